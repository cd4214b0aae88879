#include "base/ranks/communicator.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/ranks/thread_ranks.hpp"
#include "base/rng.hpp"
#include "testing/rank_threads.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

using Body = std::function<void(Communicator&)>;

// The error of each rank, or empty.
std::vector<std::string> run_ranks(int count, const Body& body) {
  return test::in_rank_threads(count, body, test::AfterError::say_nothing);
}

void expect_fine(int count, const Body& body) {
  for (const auto& error : run_ranks(count, body)) EXPECT_EQ(error, "");
}

TEST(Communicator, AloneItDoesNothing) {
  Communicator single;
  EXPECT_EQ(single.size(), 1);
  std::vector<double> values = {1, 2};
  single.all_sum(std::span(values));
  single.barrier();
  single.all_gather(std::span(values), {0, 2});
  EXPECT_EQ(values, (std::vector<double>{1, 2}));
  EXPECT_EQ(single.all_texts("a"), std::vector<std::string>{"a"});
  EXPECT_THROW(single.agree([] { fail(ErrorKind::data, "bad"); }), Error);
  EXPECT_FALSE(single.heard());
}

TEST(Communicator, PartsOfAnyLengthReachAll) {
  for (const int count : {2, 3, 4}) {
    // The second part is empty, the last one far too long to be copied for the way.
    PartOffsets offsets = {0, 7, 7};
    for (int part = 2; part < count; ++part) offsets.push_back(offsets.back() + 400'000 + part);
    expect_fine(count, [&](Communicator& ranks) {
      std::vector<float> data(offsets.back() + 3, -1);
      const auto value = [](std::int64_t k) { return static_cast<float>(k % 1000); };
      for (std::int64_t k = offsets[ranks.rank()]; k < offsets[ranks.rank() + 1]; ++k) {
        data[k] = value(k);
      }
      ranks.all_gather(std::span(data), offsets);
      std::int64_t wrong = 0;
      for (std::int64_t k = 0; k < offsets.back(); ++k) wrong += data[k] != value(k) ? 1 : 0;
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(data.back(), -1);
    });
  }
}

// Numbers whose sum depends on the order.
TEST(Communicator, SumsAreThoseInTheOrderOfTheRanks) {
  constexpr std::int64_t kLength = 1001;
  for (const int count : {2, 3, 4}) {
    std::vector<std::vector<double>> of_rank(count);
    for (int rank = 0; rank < count; ++rank) {
      Rng rng(3, rank);
      for (std::int64_t k = 0; k < kLength; ++k) {
        of_rank[rank].push_back((rng.uniform() - 0.5) * std::pow(10.0, rng.below(16)));
      }
    }
    std::vector<double> expected(kLength, 0);
    std::vector<double> of_floats(kLength, 0);
    for (const auto& values : of_rank) {
      for (std::int64_t k = 0; k < kLength; ++k) {
        expected[k] += values[k];
        of_floats[k] += static_cast<double>(static_cast<float>(values[k]));
      }
    }
    expect_fine(count, [&](Communicator& ranks) {
      std::vector<double> values = of_rank[ranks.rank()];
      std::vector<float> floats(values.begin(), values.end());
      ranks.all_sum(std::span(values));
      ranks.all_sum(std::span(floats));
      EXPECT_EQ(values, expected);
      EXPECT_EQ(floats, std::vector<float>(of_floats.begin(), of_floats.end()));
      std::vector<double> one = {1.0 + ranks.rank()};  // fewer elements than ranks
      ranks.all_sum(std::span(one));
      EXPECT_EQ(one[0], count * (count + 1) / 2.0);
      EXPECT_EQ(ranks.all_min(10 - ranks.rank()), 11 - count);
    });
  }
}

// A backend may look at the first transfer, to say whom it waits for.
TEST(Communicator, NoBackendIsAskedToMoveNothing) {
  struct Refusing : RankLinks {
    int rank() const override { return 0; }
    int size() const override { return 3; }
    void exchange(std::span<const Outgoing>, std::span<const Incoming>, double) override {
      ADD_FAILURE();
    }
    void announce(const Fault&) noexcept override {}
    std::optional<Fault> heard() override { return std::nullopt; }
  };
  Communicator ranks(std::make_shared<Refusing>());
  std::vector<double> nothing;
  ranks.all_sum(std::span(nothing));
  ranks.all_gather(std::span(nothing), {0, 0, 0, 0});
  ranks.shift(nullptr, 0, nullptr, 0);
}

TEST(Communicator, ARoundOfTheRingBringsEachBlockToAll) {
  expect_fine(3, [](Communicator& ranks) {
    std::vector<int> block(1 + ranks.rank(), ranks.rank());  // of uneven lengths
    for (int step = 1; step <= 3; ++step) {
      const int from = (ranks.rank() + 3 - step) % 3;
      std::vector<int> next(1 + from);
      ranks.shift(block.data(), std::ssize(block) * 4, next.data(), std::ssize(next) * 4);
      EXPECT_EQ(next, std::vector<int>(1 + from, from));
      block = next;
    }
  });
}

TEST(Communicator, FewerRanksWorkWhileTheOthersWait) {
  expect_fine(4, [](Communicator& ranks) {
    if (ranks.rank() < 2) {
      Communicator pair = ranks.first(2);
      EXPECT_EQ(pair.all_texts(std::to_string(pair.rank())), (std::vector<std::string>{"0", "1"}));
      EXPECT_EQ(ranks.first(1).all_texts("x").size(), 1U);
    }
    int number = ranks.rank() == 0 ? 17 : 0;
    ranks.broadcast(number);
    EXPECT_EQ(number, 17);
    EXPECT_EQ(ranks.all_texts(ranks.rank() == 2 ? "" : "t")[2], "");
  });
}

TEST(Communicator, AnErrorOfOneIsThatOfAllAndTheLinksStayUsable) {
  const auto errors = run_ranks(3, [](Communicator& ranks) {
    try {
      ranks.agree([&] {
        if (ranks.rank() == 2) fail(ErrorKind::memory, "too small");
      });
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
      EXPECT_STREQ(error.what(), "rank 2: too small");
    }
    EXPECT_EQ(ranks.all_min(ranks.rank()), 0);
    ranks.agree([] { fail(ErrorKind::data, "the same on all"); });
  });
  for (const auto& error : errors) EXPECT_EQ(error, "the same on all");
}

// One says that it has failed, while the others wait for data that it will never send.
TEST(Communicator, AFaultEndsTheWaitOfAll) {
  const auto start = Clock::now();
  const auto errors = run_ranks(3, [](Communicator& ranks) {
    if (ranks.rank() == 1) {
      ranks.announce({1, ErrorKind::memory, "no room"});
      return;
    }
    std::vector<float> data(3'000'000);
    ranks.all_gather(std::span(data), {0, 1'000'000, 2'000'000, 3'000'000});
  });
  EXPECT_EQ(errors[0], "rank 1: no room");
  EXPECT_EQ(errors[2], "rank 1: no room");
  EXPECT_LT(seconds_since(start), 5);
}

// A rank that is gone without a word, as one that was killed. Two ranks only: a third would end
// because of it, without a word here, and be named as well.
TEST(Communicator, ARankThatIsGoneIsNamed) {
  const auto errors = run_ranks(2, [](Communicator& ranks) {
    if (ranks.rank() == 1) return;
    std::vector<float> data(200);
    ranks.all_gather(std::span(data), {0, 100, 200});
  });
  EXPECT_EQ(errors[0], "rank 1: it has ended");
}

// Between its orders rank 0 may take as long as it likes, so that the wait for one has no limit: it
// ends with rank 0.
TEST(Communicator, NoOneAwaitsTheOrderOfARankThatIsGone) {
  const auto start = Clock::now();
  const auto errors = run_ranks(2, [](Communicator& ranks) {
    std::vector<std::byte> order(8);
    if (!ranks.leads()) ranks.await(0, order);
  });
  EXPECT_EQ(errors[1], "rank 0: it has ended");
  EXPECT_LT(seconds_since(start), 5);
}

// Rank 1 hears first that rank 2 is gone, and ends because of it: rank 0 is told of rank 2.
TEST(Communicator, WhoEndsBecauseOfAnotherSaysSo) {
  const auto errors = run_ranks(3, [](Communicator& ranks) {
    if (ranks.rank() == 2) return;
    std::byte byte{};
    if (ranks.rank() == 0) return ranks.receive(1, {&byte, 1});
    try {
      ranks.receive(2, {&byte, 1});
    } catch (const RankFault& fault) {
      EXPECT_EQ(fault.fault().rank, 2);
      ranks.announce(fault.fault());
    }
  });
  EXPECT_EQ(errors[0], "rank 2: it has ended");
}

// In a separate process: rank 1 works on after a fault, for ever or only for a moment.
void end_beside_a_rank(bool for_ever) {
  auto links = make_thread_links(2);
  std::thread other([own = std::move(links[1]), for_ever]() mutable {
    std::this_thread::sleep_for(for_ever ? std::chrono::hours(1) : std::chrono::milliseconds(100));
    own.reset();
  });
  links[0]->end_others(7);
  other.join();
  std::exit(0);
}

TEST(CommunicatorDeathTest, ARankThatWorksOnIsEndedWithTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(end_beside_a_rank(true), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(end_beside_a_rank(false), testing::ExitedWithCode(0), "");
}

// The memory of who gives up is soon freed, so no one reads it any more.
TEST(Communicator, WhatIsTakenBackIsNotReceived) {
  auto links = make_thread_links(2);
  {
    const std::vector<std::byte> bytes(1 << 20);
    const Outgoing send = {1, bytes.data(), std::ssize(bytes)};
    EXPECT_HAS(test::error_of([&] {
                 links[0]->exchange({&send, 1}, {}, 0.01);
               }).what(),
               "rank 1: was waited for");
  }
  links[0].reset();
  std::vector<std::byte> room(1 << 20);
  const Incoming receive = {0, room.data(), std::ssize(room)};
  EXPECT_STREQ(test::error_of([&] {
                 links[1]->exchange({}, {&receive, 1}, 0);
               }).what(),
               "rank 0: it has ended");
}

TEST(Communicator, PatienceEnds) {
  ASSERT_EQ(setenv("MFBENCH_RANK_PATIENCE", "0.05", 1), 0);
  const auto errors = run_ranks(2, [](Communicator& ranks) {
    if (ranks.rank() == 1) {
      while (!ranks.heard()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return;
    }
    std::byte byte{};
    try {
      ranks.receive(1, {&byte, 1});
    } catch (...) {
      ranks.announce({0, ErrorKind::io, "impatient"});
      throw;
    }
  });
  ASSERT_EQ(unsetenv("MFBENCH_RANK_PATIENCE"), 0);
  EXPECT_HAS(errors[0], "rank 1: was waited for");
}

TEST(Communicator, AllWhoAreWaitedForAreNamed) {
  const auto said = [](const std::vector<int>& others) {
    return std::string(test::error_of([&] { end_long_wait(others, 3, 2); }).what());
  };
  EXPECT_HAS(said({3}), "rank 3: was waited for 2 s");
  EXPECT_HAS(said({3, 1, 3}), "rank 1: ranks 1, 3 were waited for 2 s");
}

TEST(Communicator, OtherLengthsThanExpectedAreAnError) {
  const auto errors = run_ranks(2, [](Communicator& ranks) {
    std::vector<std::byte> bytes(8);
    if (ranks.rank() == 0) return ranks.send(1, {bytes.data(), 8});
    ranks.receive(0, {bytes.data(), 4});
  });
  EXPECT_HAS(errors[1], "not in step");
}

}  // namespace
}  // namespace mf
