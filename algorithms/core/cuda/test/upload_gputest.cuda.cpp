// Uploads, the models made of them, and draws that are the same on both sides.
#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>

#include "algorithms/core/cuda/device_model.hpp"
#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/test/kernels.hpp"
#include "algorithms/core/random.hpp"
#include "base/error.hpp"
#include "base/rng.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/models.hpp"
#include "testing/packable.hpp"

namespace mf::cuda {
namespace {

struct Gpu {
  ThreadTeam team{3};
  Stream stream;
  Rng rng{9};

  template <class T>
  AlignedVector<T> back(const T* from, std::int64_t count) {
    AlignedVector<T> host(count);
    download(View<T>(host), from, stream.get());
    return host;
  }
  template <class T>
  AlignedVector<T> back(const DeviceBuffer<T>& from) {
    return back(from.data(), static_cast<std::int64_t>(from.size()));
  }

  AlignedVector<float> random_floats(std::int64_t count) {
    AlignedVector<float> numbers(count);
    for (float& x : numbers) x = static_cast<float>(rng.normal());
    return numbers;
  }

  Model random_model(ModelKind kind, std::int32_t factors) {
    Model model = initial_model(300, 200, factors, kind, 3.5, {}, 2);
    for (float& x : model.user_bias) x = static_cast<float>(rng.normal());
    for (float& x : model.item_bias) x = static_cast<float>(rng.normal());
    return model;
  }
};

// None, one, less than is staged, and more than two pieces of pinned memory, up and down in size.
TEST(Uploader, ArraysOfAnySizeArrive) {
  Gpu gpu;
  Uploader uploader(gpu.team, gpu.stream.get());
  for (const std::int64_t count : {0LL, 1LL, 1000LL, 300'000LL, 20'000'001LL, 70'000LL}) {
    AlignedVector<std::int32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 7);
    const auto device = uploader.array(View<const std::int32_t>(numbers));
    EXPECT_EQ(gpu.back(device), numbers) << count;
  }
}

// Many in flight: the source of an upload may end when the call has returned.
TEST(Uploader, WhatTheyComeFromMayEnd) {
  Gpu gpu;
  std::vector<DeviceBuffer<std::int64_t>> buffers;
  {
    Uploader uploader(gpu.team, gpu.stream.get());
    for (std::int64_t k = 0; k < 20; ++k) {
      AlignedVector<std::int64_t> numbers(100'000 + k, k);
      buffers.push_back(uploader.array(View<const std::int64_t>(numbers)));
      std::fill(numbers.begin(), numbers.end(), -1);
    }
  }
  for (std::int64_t k = 0; k < 20; ++k) {
    EXPECT_EQ(gpu.back(buffers[k]), AlignedVector<std::int64_t>(100'000 + k, k));
  }
}

// More pieces than the ring has, filled by more threads than it has pieces, and by one.
TEST(Uploader, PiecesArriveInTheirPlaces) {
  Gpu gpu;
  const std::int64_t count = (2 * kPinnedPieces + 3) * kPinnedPieceBytes / 8 + 11;
  for (const int threads : {1, 2 * kPinnedPieces}) {
    ThreadTeam team(threads);
    Uploader uploader(team, gpu.stream.get());
    const auto sent = uploader.filled<std::int64_t>(
        count, [](std::int64_t begin, std::int64_t end, std::int64_t* out) {
          std::iota(out, out + (end - begin), begin);
        });
    const auto seen = gpu.back(sent);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < count; ++i) wrong += seen[i] != i;
    EXPECT_EQ(wrong, 0) << threads;
  }
}

// Its error ends the upload, also if others wait for a place in the ring; the next is whole.
TEST(Uploader, AFillThatFailsEndsTheUpload) {
  Gpu gpu;
  Uploader uploader(gpu.team, gpu.stream.get());
  const std::int64_t count = 3 * kPinnedPieces * kPinnedPieceBytes / 8;
  EXPECT_THROW(uploader.filled<std::int64_t>(count,
                                             [](std::int64_t begin, std::int64_t, std::int64_t*) {
                                               if (begin == 0)
                                                 fail(ErrorKind::data, "it cannot be read");
                                             }),
               Error);
  const AlignedVector<std::int64_t> numbers(2'000'000, 5);
  EXPECT_EQ(gpu.back(uploader.array(View<const std::int64_t>(numbers))), numbers);
}

TEST(Uploader, RowsArePaddedWithZeros) {
  Gpu gpu;
  Uploader uploader(gpu.team, gpu.stream.get());
  const AlignedVector<float> packed = gpu.random_floats(50'000 * 5);
  const auto wide = gpu.back(uploader.rows<double>(View(packed), 5, 6));
  ASSERT_EQ(std::ssize(wide), 50'000 * 6);
  for (std::int64_t i = 0; i < std::ssize(wide); ++i) {
    const double expected = i % 6 < 5 ? static_cast<double>(packed[i / 6 * 5 + i % 6]) : 0.0;
    ASSERT_EQ(wide[i], expected) << i;
  }
  EXPECT_EQ(gpu.back(uploader.rows(View(packed), 5, 5)), packed);
}

void expect_ratings(const AlignedVector<RowRating>& seen, const test::Packable& sent,
                    const char* way) {
  ASSERT_EQ(std::ssize(seen), std::ssize(sent.items)) << sent.name << " " << way;
  for (std::int64_t i = 0; i < std::ssize(seen); ++i) {
    ASSERT_EQ(seen[i].other, sent.items[i]) << sent.name << " " << way << " " << i;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(seen[i].value),
              std::bit_cast<std::uint32_t>(sent.values[i]))
        << sent.name << " " << way << " " << i;
  }
}

// All of one user. Ids are not looked at: there are no 2^31 items.
Ratings of_one_user(const test::Packable& ratings) {
  struct Users {
    AlignedVector<std::int32_t> of_ratings;
    AlignedVector<std::int64_t> offsets;
    std::int32_t id = 0;
  };
  const std::int64_t count = std::ssize(ratings.items);
  auto users = std::make_shared<Users>();
  users->of_ratings.assign(count, 0);
  users->offsets = {0, count};
  Ratings::Views views;
  views.users = users->of_ratings;
  views.items = ratings.items;
  views.values = ratings.values;
  views.user_offsets = users->offsets;
  views.user_ids = {&users->id, 1};
  views.item_ids = {&users->id, ratings.n_items};
  return {views, users};
}

// One of the pieces is empty, and the first lies in other memory.
RowPieces in_pieces(const Ratings& ratings) {
  const auto piece = [&](std::int64_t begin, std::int64_t end) -> RowPieces::Piece {
    return {ratings.items().part(begin, end), ratings.values().part(begin, end)};
  };
  const std::int64_t count = ratings.nnz(), third = count / 3, half = count / 2;
  RowPieces rows;
  const RowPieces::Piece first = piece(0, third);
  rows.received_items.emplace_back(first.items.begin(), first.items.end());
  rows.received_values.emplace_back(first.values.begin(), first.values.end());
  rows.pieces = {{rows.received_items[0], rows.received_values[0]},
                 piece(third, third),
                 piece(third, half),
                 piece(half, count)};
  return rows;
}

void expect_to_arrive(Gpu& gpu, const test::Packable& sent) {
  Uploader uploader(gpu.team, gpu.stream.get());
  Ratings ratings = of_one_user(sent);
  RowPieces whole;
  whole.pieces = {{ratings.items(), ratings.values()}};
  for (const char* way : {"packed on the way", "packed before"}) {
    expect_ratings(gpu.back(uploader.row_ratings(whole, ratings)), sent, way);
    expect_ratings(gpu.back(uploader.row_ratings(in_pieces(ratings), ratings)), sent, way);
    ratings.keep_packed(gpu.team);
  }
}

TEST(Uploader, RatingsArriveBitForBit) {
  Gpu gpu;
  for (const auto& ratings : test::packables(8)) expect_to_arrive(gpu, ratings);
}

// Many users have none, and the column of users is not made for them.
TEST(Uploader, RatingsArriveWithTheUsersOfTheirRows) {
  Gpu gpu;
  constexpr std::int32_t kUsers = 400'000;
  Ratings::Arrays arrays;
  arrays.user_offsets = {0};
  AlignedVector<std::int32_t> users;
  for (std::int32_t user = 0; user < kUsers; ++user) {
    users.resize(std::ssize(users) + static_cast<std::int64_t>(gpu.rng.below(3)), user);
    arrays.user_offsets.push_back(std::ssize(users));
  }
  arrays.items.assign(users.size(), 0);
  arrays.values = gpu.random_floats(std::ssize(users));
  arrays.user_ids.resize(kUsers);
  arrays.item_ids = {0};
  const Ratings ratings(std::move(arrays));
  Uploader uploader(gpu.team, gpu.stream.get());
  const auto seen = gpu.back(uploader.ratings(ratings));
  EXPECT_FALSE(ratings.has_users());
  ASSERT_EQ(std::ssize(seen), ratings.nnz());
  for (std::int64_t i = 0; i < ratings.nnz(); ++i) {
    ASSERT_EQ(seen[i].user, users[i]) << i;
    ASSERT_EQ(seen[i].value, ratings.values()[i]) << i;
  }
}

// Narrow ones and the widest, in several pieces of pinned memory.
TEST(Uploader, RatingsOfManyPiecesArriveBitForBit) {
  Gpu gpu;
  expect_to_arrive(gpu, test::packable(17'770, {1, 2, 3, 4, 5}, 9'000'001, gpu.rng));
  expect_to_arrive(gpu, test::packable((std::int64_t{1} << 31) - 1, {}, 5'000'063, gpu.rng));
}

// Packed rows of a view must be the model's.
template <class Real>
void expect_same_model(Gpu& gpu, const Model& model) {
  Uploader uploader(gpu.team, gpu.stream.get());
  DeviceModel<Real> device(model, uploader);
  EXPECT_EQ(device.stride(), row_stride(model.factors, sizeof(Real)));
  const Model seen = packed_model(device.view(gpu.stream.get()),
                                  [&](AlignedVector<float>& to, const float* from,
                                      std::int64_t stride, std::int32_t count, std::int32_t width) {
                                    const auto padded = gpu.back(from, stride * count);
                                    for (std::int64_t i = 0; i < stride * count; ++i) {
                                      if (i % stride < width) {
                                        to.push_back(padded[i]);
                                      } else {
                                        ASSERT_EQ(padded[i], 0.0F) << "the padding of a row";
                                      }
                                    }
                                  });
  test::expect_same(seen, model);
}

TEST(DeviceModel, IsSeenAsItWas) {
  Gpu gpu;
  for (const ModelKind kind : {ModelKind::biased, ModelKind::plain}) {
    for (const std::int32_t factors : {1, 7, 64}) {
      const Model model = gpu.random_model(kind, factors);
      expect_same_model<float>(gpu, model);
      expect_same_model<double>(gpu, model);
    }
  }
}

// The device makes the same rows by a rule as the host, bit for bit.
TEST(InitialRows, AreTheHosts) {
  Gpu gpu;
  Uploader uploader(gpu.team, gpu.stream.get());
  for (const InitKind kind : {InitKind::normal, InitKind::uniform, InitKind::normal_over_factors}) {
    for (const std::int32_t factors : {1, 7, 100, 128}) {
      for (const double mean : {3.6, -2.0}) {
        const InitSpec init{kind, 0.3, 77};
        const Model rule =
            model_to_make(20'000, 300, factors, ModelKind::biased, {mean, 1.1}, init);
        const Model other =
            model_to_make(20'000, 300, factors, ModelKind::biased, {mean, 1.1}, {kind, 0.3, 78});
        Model made = rule;
        make_rows(made, gpu.team);
        ASSERT_FALSE(made.rule);
        for (const RowsOf side : {RowsOf::users, RowsOf::items}) {
          const std::int64_t stride = row_stride(factors, sizeof(float));
          const auto by_rule = gpu.back(initial_rows<float>(rule, side, stride, uploader));
          const auto uploaded = gpu.back(initial_rows<float>(made, side, stride, uploader));
          EXPECT_EQ(by_rule, uploaded) << factors;
          for (const bool by_its_rule : {true, false}) {  // some of them, among others
            DeviceBuffer<float> room = initial_rows<float>(other, side, stride, uploader);
            make_initial_rows(by_its_rule ? rule : made, side, {100, 250}, stride, uploader,
                              room.data() + 100 * stride);
            auto expected = gpu.back(initial_rows<float>(other, side, stride, uploader));
            std::copy(by_rule.begin() + 100 * stride, by_rule.begin() + 250 * stride,
                      expected.begin() + 100 * stride);
            EXPECT_EQ(gpu.back(room), expected);
          }
          const std::int64_t wide = row_stride(factors, sizeof(double));
          EXPECT_EQ(gpu.back(initial_rows<double>(rule, side, wide, uploader)),
                    gpu.back(initial_rows<double>(made, side, wide, uploader)));
        }
      }
    }
  }
}

TEST(Random, DrawsOfTheDeviceAreTheHosts) {
  Gpu gpu;
  constexpr std::int32_t kDraws = 10'000;
  constexpr std::uint64_t kSeed = (1ULL << 40) + 3;
  constexpr std::int64_t kIteration = (1LL << 33) + 1;
  const Permutation permutation = Permutation::of(kDraws, 4);
  DeviceBuffer<std::int64_t> out(2 * kDraws);
  launch_draws(kSeed, kIteration, out.data(), kDraws, permutation, gpu.stream.get());
  const auto drawn = gpu.back(out);
  for (std::int32_t i = 0; i < kDraws; ++i) {
    ASSERT_EQ(drawn[2 * i], pick(random_bits(kSeed, i, kIteration), 12345)) << i;
    ASSERT_EQ(drawn[2 * i + 1], permutation(i)) << i;
  }
}

TEST(Launch, BlocksCoverTheWork) {
  EXPECT_EQ(blocks_for(0, 128), 0U);
  EXPECT_EQ(blocks_for(1, 128), 1U);
  EXPECT_EQ(blocks_for(256, 128), 2U);
  EXPECT_EQ(blocks_for(257, 128), 3U);
  EXPECT_EQ(blocks_for(257, 128, 2), 2U);
}

}  // namespace
}  // namespace mf::cuda
