// R on the device against the host's: columns, counts, users of ratings; and the memory they are
// in.
#include <algorithm>
#include <set>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/cuda/ratings/make_columns.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "base/error.hpp"
#include "base/rng.hpp"
#include "testing/cuda/back.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/triples.hpp"

namespace mf::cuda {
namespace {

// A few rows have many ratings and many have none; so have the columns.
Ratings skewed(std::int32_t users, std::int32_t items, std::int64_t nnz, std::uint64_t seed) {
  Rng rng(seed);
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::int64_t i = 0; i < nnz; ++i) {
    const auto user = static_cast<std::int32_t>(rng.below(1 + rng.below(users)));
    const auto item = static_cast<std::int32_t>(rng.below(1 + rng.below(items)));
    pairs.insert({user, item});
  }
  std::vector<Rating> list;
  for (const auto& [user, item] : pairs) {
    list.push_back({user, item, static_cast<float>(rng.uniform())});
  }
  return test::ratings_of(users, items, list);
}

std::vector<Ratings> several() {
  std::vector<Ratings> all;
  all.push_back(skewed(1, 1, 1, 1));
  all.push_back(skewed(40, 1, 30, 2));
  all.push_back(skewed(1, 300, 200, 3));
  all.push_back(skewed(700, 300, 20'000, 4));
  all.push_back(skewed(200, 70'000, 50'000, 5));  // items of three bytes
  all.push_back(skewed(3, 9000, 20'000, 6));      // rows of many warps
  all.push_back(skewed(90'000, 50, 3000, 7));     // most rows are empty
  all.push_back(test::ratings_of(5, 6, {}));
  return all;
}

void expect_columns(const DeviceColumns& columns, const Ratings& train, const Stream& stream,
                    std::int64_t at_once) {
  const Csc expected = make_csc(train, 2);
  const auto offsets = back(columns.offsets.data(), train.n_items() + 1, stream);
  ASSERT_TRUE(std::equal(offsets.begin(), offsets.end(), expected.item_offsets.begin()));
  const auto ratings = back(columns.ratings.data(), train.nnz(), stream);
  for (std::int64_t i = 0; i < train.nnz(); ++i) {
    ASSERT_EQ(ratings[i].other, expected.users[i]) << i << " of " << at_once << " at once";
    ASSERT_EQ(ratings[i].value, expected.values[i]) << i;
  }
}

TEST(DeviceRatings, ColumnsAreTheHostsHoweverManyAreSortedAtOnce) {
  ThreadTeam team(2);
  Stream stream;
  for (const Ratings& train : several()) {
    const DeviceRatings ratings(train, team, stream.get());
    for (const std::int64_t at_once : {1, 7, 999, 5000, 1 << 20}) {
      if (train.nnz() / at_once > 5000) continue;
      expect_columns(make_columns(ratings.rows(), train.n_items(), at_once, stream.get()), train,
                     stream, at_once);
    }
  }
}

TEST(DeviceRatings, RowsAreTheHostsWhetherPackedBeforeOrNot) {
  ThreadTeam team(2);
  Stream stream;
  auto all = several();
  for (Ratings& train : all) {
    for (const bool before : {false, true}) {
      if (before) train.keep_packed(team);
      const DeviceRatings ratings(train, team, stream.get());
      const auto rows = back(ratings.rows().ratings, train.nnz(), stream);
      for (std::int64_t i = 0; i < train.nnz(); ++i) {
        ASSERT_EQ(rows[i].other, train.items()[i]) << i;
        ASSERT_EQ(rows[i].value, train.values()[i]) << i;
      }
    }
  }
}

// All pairs except item 1's.
Ratings dense(std::int32_t users, std::int32_t items) {
  std::vector<Rating> list;
  for (std::int32_t user = 0; user < users; ++user) {
    for (std::int32_t item = 0; item < items; ++item) {
      if (item != 1) list.push_back({user, item, 1.0F});
    }
  }
  return test::ratings_of(users, items, list);
}

TEST(DeviceRatings, CountsAreTheHosts) {
  ThreadTeam team(2);
  Stream stream;
  auto all = several();
  all.push_back(dense(1300, 900));   // counted in shared memory
  all.push_back(dense(16, 70'000));  // for which it is too small
  for (const Ratings& train : all) {
    const Csc columns = make_csc(train, 2);
    std::vector<std::int64_t> counts(train.n_items());
    for (std::int32_t item = 0; item < train.n_items(); ++item) {
      counts[item] = columns.item_offsets[item + 1] - columns.item_offsets[item];
    }
    std::set<std::int32_t> users(train.users().begin(), train.users().end());
    for (const bool with_columns : {false, true}) {
      DeviceRatings ratings(train, team, stream.get());
      if (with_columns) ratings.columns(stream.get());
      EXPECT_EQ(back(ratings.item_counts(stream.get()), train.n_items(), stream), counts);
      EXPECT_EQ(ratings.rated_items(stream.get()),
                std::ssize(counts) - std::count(counts.begin(), counts.end(), 0));
      EXPECT_EQ(ratings.rating_users(stream.get()), std::ssize(users));
    }
  }
}

TEST(DeviceRatings, UsersAreExpanded) {
  ThreadTeam team(2);
  Stream stream;
  for (const Ratings& train : several()) {
    const DeviceRatings ratings(train, team, stream.get());
    DeviceBuffer<std::int32_t> users(train.nnz());
    expand_users(ratings.rows(), users.data(), stream.get());
    const auto seen = back(users.data(), train.nnz(), stream);
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), train.users().begin()));
  }
}

TEST(DeviceRatings, WhatIsKeptStaysAndTheRestIsGivenBack) {
  ThreadTeam team(2);
  Stream stream;
  const Ratings train = skewed(700, 300, 20'000, 4);
  for (const bool kept : {false, true}) {
    DeviceRatings ratings(train, team, stream.get());
    if (kept) ratings.keep();
    ratings.columns(stream.get());
    const std::int64_t before = allocated_bytes();
    ratings.release_columns();
    ratings.release_rows();
    EXPECT_EQ(before - allocated_bytes(), kept ? 0 : 16 * train.nnz());
  }
}

TEST(DeviceRatings, OnesThatAreLentAreUsedAndOthersRefused) {
  ThreadTeam team(1);
  Stream stream;
  const Ratings train = skewed(70, 30, 200, 4);
  DeviceRatings lent(train, team, stream.get());
  Context context;
  context.team = &team;
  context.stream = stream.get();
  EXPECT_NE(ratings_on_device(train, context).get(), &lent);
  context.ratings = &lent;
  EXPECT_EQ(ratings_on_device(train, context).get(), &lent);
  EXPECT_THROW(ratings_on_device(skewed(71, 30, 200, 4), context), std::logic_error);
}

TEST(Memory, IsCountedGivenBackAndHadAgain) {
  Stream stream;
  const std::int64_t before = allocated_bytes();
  reset_peak_allocated_bytes();
  {
    DeviceBuffer<float> one(1'000'000);
    StreamBuffer<float> two(500'000, stream.get());
    EXPECT_EQ(allocated_bytes() - before, 6'000'000);
  }
  stream.synchronize();
  EXPECT_EQ(allocated_bytes(), before);
  EXPECT_EQ(peak_allocated_bytes() - before, 6'000'000);
  const std::int64_t available = available_bytes();
  EXPECT_GT(available, 0);
  for (int i = 0; i < 4; ++i) {  // more than fits at once: each is given back before the next
    DeviceBuffer<std::byte> most(available / 2);
    MF_CUDA(cudaMemsetAsync(most.data(), 1, most.bytes(), stream.get()));
  }
  EXPECT_THROW(DeviceBuffer<std::byte>(available * 4), Error);
  DeviceBuffer<float> still(1000);  // the refusal is not sticky
  MF_CUDA(cudaMemsetAsync(still.data(), 0, still.bytes(), stream.get()));
  stream.synchronize();
}

}  // namespace
}  // namespace mf::cuda
