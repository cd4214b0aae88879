// Collective operations of devices, by ranks with a device each; and R over them.
#include "algorithms/core/cuda/ranks/device_communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/rank_ratings.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "base/clock.hpp"
#include "base/rng.hpp"
#include "base/wait.hpp"
#include "datasets/ratings/ratings.hpp"
#include "testing/cuda/back.hpp"
#include "testing/cuda/rank_devices.hpp"
#include "testing/test_support.hpp"
#include "testing/triples.hpp"

namespace mf::cuda {
namespace {

// A third of the pairs; the first user has none.
Ratings some_ratings(std::int32_t users, std::int32_t items) {
  Rng rng(7);
  std::vector<Rating> list;
  for (std::int32_t user = users > 1 ? 1 : 0; user < users; ++user) {
    for (std::int32_t item = 0; item < items; ++item) {
      if (rng.uniform() < 0.3) list.push_back({user, item, static_cast<float>(list.size())});
    }
  }
  list.push_back({users - 1, items, -1});  // so that there is one at least
  return test::ratings_of(users, items + 1, list);
}

class Devices : public testing::TestWithParam<int> {};

TEST_P(Devices, PartsOfAnyLengthReachAll) {
  in_ranks(GetParam(), [](Communicator& ranks) {
    auto& devices = DeviceCommunicator::of(ranks);
    EXPECT_EQ(&devices, &DeviceCommunicator::of(ranks));
    const Stream stream;
    // Uneven; the second part is empty, the last one long.
    for (const std::int64_t last : {std::int64_t{5}, std::int64_t{3} << 20}) {
      PartOffsets bytes = {0};
      for (int rank = 0; rank < ranks.size(); ++rank) {
        const std::int64_t count = rank + 1 == ranks.size() ? last : rank == 1 ? 0 : 7 + rank;
        bytes.push_back(bytes.back() + count * 4);
      }
      std::vector<std::int32_t> expected(bytes.back() / 4);
      std::iota(expected.begin(), expected.end(), 1);
      std::vector<std::int32_t> own(expected.size(), -1);
      const std::int64_t begin = bytes[ranks.rank()] / 4;
      const std::int64_t end = bytes[ranks.rank() + 1] / 4;
      std::copy(expected.begin() + begin, expected.begin() + end, own.begin() + begin);
      auto device = upload(View<const std::int32_t>(own), stream.get());
      devices.all_gather(device.data(), bytes, stream.get());
      devices.wait(stream.get());
      EXPECT_EQ(back(device, stream), expected);
    }
    EXPECT_GT(devices.use().seconds, 0);
    EXPECT_GT(devices.use().bytes_received, 0);
  });
}

TEST_P(Devices, EachHasItsOwnMemory) {
  in_ranks(GetParam(), [](Communicator& ranks) {
    const std::int64_t before = allocated_bytes();
    const std::int64_t bytes = 1000 * (1 + ranks.rank());
    const DeviceBuffer<std::byte> own(bytes);
    ranks.barrier();
    EXPECT_EQ(allocated_bytes() - before, bytes);
    cudaPointerAttributes found{};
    MF_CUDA(cudaPointerGetAttributes(&found, own.data()));
    EXPECT_EQ(found.device, ranks.rank());
    ranks.barrier();
  });
}

// The first transfer connects, which takes a hundred times as long: by separate messages.
TEST_P(Devices, AreConnectedBeforeTheFirstExchange) {
  in_ranks(GetParam(), [](Communicator& ranks) {
    DeviceCommunicator devices(ranks);
    EXPECT_EQ(devices.queued(), 0);
    const Stream stream;
    devices.all_gather(nullptr, PartOffsets(ranks.size() + 1, 0), stream.get());
    constexpr int kToConnect = 2;  // between all, and a sum over all
    EXPECT_EQ(devices.queued(), kToConnect);
    EXPECT_EQ(devices.use().count, 0);
    const auto out = zeros<std::int32_t>(1000, stream.get());
    DeviceBuffer<std::int32_t> in(1000);
    devices.shift(out.data(), 4000, in.data(), 4000, stream.get());
    devices.wait(stream.get());
    EXPECT_EQ(devices.queued(), kToConnect + 1);
    EXPECT_EQ(devices.use().count, 1);
  });
}

TEST_P(Devices, SumsAreThoseOfAll) {
  in_ranks(GetParam(), [](Communicator& ranks) {
    auto& devices = DeviceCommunicator::of(ranks);
    const Stream stream;
    const auto check = [&]<class T>(T unit) {
      std::vector<T> own(1000);
      for (std::size_t i = 0; i < own.size(); ++i) {
        own[i] = static_cast<T>(i) * unit + static_cast<T>(ranks.rank());
      }
      auto device = upload(View<const T>(own), stream.get());
      devices.all_sum(device.data(), std::ssize(own), stream.get());
      devices.wait(stream.get());
      const auto got = back(device, stream);
      const auto count = static_cast<T>(ranks.size());
      for (std::size_t i = 0; i < own.size(); ++i) {
        ASSERT_EQ(got[i], count * static_cast<T>(i) * unit + count * (count - 1) / 2);
      }
    };
    check(std::int64_t{1} << 33);
    check(0.5F);
    check(0.25);
  });
}

TEST_P(Devices, ARingMovesOnByOne) {
  in_ranks(GetParam(), [](Communicator& ranks) {
    auto& devices = DeviceCommunicator::of(ranks);
    const Stream stream;
    const auto length = [](int rank) { return 100 + 1000 * rank; };
    const int before = (ranks.rank() + ranks.size() - 1) % ranks.size();
    const std::vector<std::int32_t> own(length(ranks.rank()), ranks.rank());
    const auto out = upload(View<const std::int32_t>(own), stream.get());
    DeviceBuffer<std::int32_t> in(length(before));
    devices.shift(out.data(), 4 * length(ranks.rank()), in.data(), 4 * length(before),
                  stream.get());
    devices.wait(stream.get());
    EXPECT_EQ(back(in, stream), std::vector<std::int32_t>(length(before), before));
  });
}

// Rank 0 has room for the rows of all, the others for their own or for all.
TEST_P(Devices, RowsOfAllReachTheFirst) {
  in_ranks(GetParam(), [](Communicator& ranks) {
    auto& devices = DeviceCommunicator::of(ranks);
    const Stream stream;
    RowShards shards;
    std::vector<std::int32_t> expected;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      const std::int64_t first = std::ssize(expected);
      expected.resize(first + (rank == 1 ? 0 : 3 + 500 * rank), 100 + rank);
      shards.parts.push_back({first, std::ssize(expected)});
    }
    const RowRange own = shards.own(ranks.rank());
    for (const bool all : {true, false}) {
      const RowRange held = ranks.leads() || all ? RowRange{0, std::ssize(expected)} : own;
      std::vector<std::int32_t> rows(held.size(), -1);
      std::copy(expected.begin() + own.begin, expected.begin() + own.end,
                rows.begin() + (own.begin - held.begin));
      auto device = upload(View<const std::int32_t>(rows), stream.get());
      devices.gather(device.data(), held.begin, sizeof(std::int32_t), shards, stream.get());
      devices.wait(stream.get());
      EXPECT_EQ(back(device, stream), ranks.leads() ? expected : rows);
    }
  });
}

// A rank that sums with the others, and waits for it.
struct Summing {
  explicit Summing(Communicator& ranks) : devices(DeviceCommunicator::of(ranks)) {}
  void queue() { devices.all_sum(values.data(), 1000, stream.get()); }
  void wait() { devices.wait(stream.get()); }

  DeviceCommunicator& devices;
  Stream stream;
  DeviceBuffer<std::int64_t> values{1000};
};

// In the middle of an exchange that the other will never join.
TEST_P(Devices, ARankThatLeavesEndsTheOthers) {
  in_ranks(
      GetParam(),
      [](Communicator& ranks) {
        Summing summing(ranks);
        summing.queue();
        summing.wait();
        ranks.barrier();
        if (ranks.rank() == 1) return ranks.announce({1, ErrorKind::memory, "no room"});
        const auto start = Clock::now();
        try {
          summing.queue();
          summing.wait();
          // A third that gives up first lets this one's kernel end, before the word of the second
          // is here; a loop exchanges something on the host before it takes a result.
          ranks.barrier();
          FAIL() << "nothing was thrown";
        } catch (const RankFault& fault) {
          EXPECT_EQ(fault.fault().rank, 1) << fault.what();
        }
        EXPECT_LT(seconds_since(start), 8);
        MF_CUDA(cudaDeviceSynchronize());  // nothing spins any more
        EXPECT_LT(seconds_since(start), 10);
      },
      false);
}

// The last rank stops in the middle of an exchange, as one whose file system is away. Rank 0 hears
// `words` of it, the others of rank 0.
void expect_end_of_wait(Communicator& ranks, const std::string& words) {
  Summing summing(ranks);
  summing.queue();
  summing.wait();
  ranks.barrier();
  const auto start = Clock::now();
  if (ranks.rank() + 1 == ranks.size()) {
    while (!ranks.heard() && seconds_since(start) < 20) ::usleep(1000);
    return;
  }
  try {
    summing.queue();
    summing.wait();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const RankFault& fault) {
    if (ranks.leads()) {
      EXPECT_HAS(fault.what(), words);
    }
    ranks.announce(fault.fault());
  }
  MF_CUDA(cudaDeviceSynchronize());  // nothing spins any more
  EXPECT_LT(seconds_since(start), 10);
}

TEST_P(Devices, AWaitEndsWhereItsScopeSaysSo) {
  in_ranks(
      GetParam(),
      [](Communicator& ranks) {
        std::optional<WaitScope> waits;
        if (ranks.leads()) {
          waits.emplace([](const std::string& what, double) {
            fail(ErrorKind::io, "interrupted while waiting for {}", what);
          });
        }
        expect_end_of_wait(ranks,
                           ranks.size() > 2 ? "waiting for ranks 1, " : "waiting for rank 1");
      },
      false);
}

TEST_P(Devices, AWaitEndsWithThePatience) {
  test::Environment environment;
  environment.set("MFBENCH_RANK_PATIENCE", "2");
  in_ranks(
      GetParam(),
      [](Communicator& ranks) {
        expect_end_of_wait(ranks, "waited for 2 s; MFBENCH_RANK_PATIENCE");
      },
      false);
}

TEST_P(Devices, WhatComputesBeforeAnExchangeIsNoWait) {
  test::Environment environment;
  environment.set("MFBENCH_RANK_PATIENCE", "60");
  in_ranks(GetParam(), [](Communicator& ranks) {
    Summing summing(ranks);
    summing.queue();
    summing.wait();
    ranks.barrier();
    if (ranks.leads()) ::setenv("MFBENCH_RANK_PATIENCE", "1", 1);  // to connect may take longer
    ranks.barrier();
    MF_CUDA(cudaLaunchHostFunc(
        summing.stream.get(), [](void*) { ::usleep(2500000); }, nullptr));
    summing.queue();
    EXPECT_NO_THROW(summing.wait());
  });
}

// One that fails while the others have work queued: its memory can be freed.
TEST_P(Devices, ARankThatFailsGivesUp) {
  in_ranks(
      GetParam(),
      [](Communicator& ranks) {
        Summing summing(ranks);
        const auto start = Clock::now();
        try {
          summing.devices.guarded([&] {
            summing.queue();
            summing.wait();
            summing.queue();
            if (ranks.rank() == 0) fail(ErrorKind::memory, "no more");
            summing.queue();
            summing.wait();
          });
          FAIL() << "nothing was thrown";
        } catch (const RankFault&) {
        } catch (const Error& error) {
          EXPECT_EQ(ranks.rank(), 0) << error.what();
          ranks.announce({0, error.kind(), error.what()});
        }
        summing.values.reset();
        EXPECT_LT(seconds_since(start), 10);
      },
      false);
}

// Each rank's rows and columns equal the whole's.
TEST_P(Devices, ColumnsAreMadeOfTheRowsOfAll) {
  in_ranks(GetParam(), [](Communicator& ranks) {
    auto& devices = DeviceCommunicator::of(ranks);
    const Stream stream;
    ThreadTeam team(2);
    Context context;
    context.team = &team;
    context.stream = stream.get();
    for (const auto& [users, items] : {std::pair{400, 90}, {1, 3}, {3, 1}}) {
      const Ratings train = some_ratings(users, items);
      const Csc all = make_csc(train, 1);
      const auto shard = [&](View<const std::int64_t> offsets) {
        return shard_rows(
            offsets, [](std::int64_t count) { return static_cast<double>(count); }, ranks.size(),
            2);
      };
      RankRatings ratings(train, context, shard, shard, devices);
      const auto compare = [&](const RatingsOfRows& got, RowRange own,
                               View<const std::int64_t> offsets, const auto& others,
                               const auto& values) {
        ASSERT_EQ(got.rows, own.size());
        std::vector<std::int64_t> begins(got.rows + 1);
        std::vector<RowRating> list(got.nnz);
        download(View<std::int64_t>(begins), got.offsets, stream.get());
        download(View<RowRating>(list), got.ratings, stream.get());
        for (std::int64_t row = 0; row <= got.rows; ++row) {
          ASSERT_EQ(begins[row], offsets[own.begin + row] - offsets[own.begin]);
        }
        for (std::int64_t i = 0; i < got.nnz; ++i) {
          ASSERT_EQ(list[i].other, others[offsets[own.begin] + i]);
          ASSERT_EQ(list[i].value, values[offsets[own.begin] + i]);
        }
      };
      compare(ratings.rows(), ratings.own_users(), train.user_offsets(), train.items(),
              train.values());
      compare(ratings.columns(stream.get()), ratings.own_items(), all.item_offsets, all.users,
              all.values);
      EXPECT_EQ(ratings.nnz(), train.nnz());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Devices, testing::Values(2, 3, 4));

}  // namespace
}  // namespace mf::cuda
