#include "algorithms/core/ranks/row_cuts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.hpp"
#include "testing/rank_threads.hpp"
#include "testing/triples.hpp"

namespace mf {
namespace {

using test::offsets_of;

RowCuts cut(const std::vector<std::int64_t>& lengths, double row_cost, int ranks) {
  const auto offsets = offsets_of(lengths);
  return cut_rows(View<const std::int64_t>(offsets), row_cost, ranks);
}

TEST(RowCuts, PartsHaveAboutTheSameWork) {
  std::vector<std::int64_t> lengths;
  Rng rng(5);
  for (int row = 0; row < 3000; ++row) {
    lengths.push_back(row % 7 == 0 ? 0 : 1 + static_cast<std::int64_t>(3e4 / (1 + row)));
  }
  std::shuffle(lengths.begin(), lengths.end(), rng);
  for (const double row_cost : {0.0, 20.0}) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
      const RowCuts cuts = cut(lengths, row_cost, ranks);
      ASSERT_EQ(std::ssize(cuts), ranks + 1);
      EXPECT_EQ(cuts.front(), 0);
      EXPECT_EQ(cuts.back(), std::ssize(lengths));
      double all = 0, longest = 0;
      std::vector<double> work(ranks, 0);
      for (int rank = 0; rank < ranks; ++rank) {
        for (std::int64_t row = cuts[rank]; row < cuts[rank + 1]; ++row) {
          const double cost = lengths[row] > 0 ? static_cast<double>(lengths[row]) + row_cost : 0.0;
          work[rank] += cost;
          all += cost;
          longest = std::max(longest, cost);
        }
      }
      for (const double one : work) EXPECT_LE(one, all / ranks + longest);
    }
  }
}

TEST(RowShards, PartsHaveTheirShares) {
  std::vector<std::int64_t> lengths(10'000);
  Rng rng(4);
  for (auto& length : lengths) length = static_cast<std::int64_t>(50 * rng.uniform());
  const auto offsets = offsets_of(lengths);
  const auto cost = [](std::int64_t count) { return static_cast<double>(count); };
  const PartShares shares = {.75, .2, .05, 0};
  const RowShards shards = shard_rows(offsets, cost, 3, shares);
  ASSERT_EQ(shards.parts_of_rank(), 4);
  for (int rank = 0; rank < 3; ++rank) {
    const RowRange own = shards.own(rank);
    const auto work = static_cast<double>(offsets[own.end] - offsets[own.begin]);
    std::int64_t at = own.begin;
    for (int part = 0; part < 4; ++part) {
      const RowRange rows = shards.part(rank, part);
      EXPECT_EQ(rows.begin, at);
      at = rows.end;
      EXPECT_NEAR(static_cast<double>(offsets[rows.end] - offsets[rows.begin]), shares[part] * work,
                  50);
    }
    EXPECT_EQ(at, own.end);
  }
}

TEST(RowShards, EachRowIsInOnePartOfOneRank) {
  std::vector<std::int64_t> lengths;
  Rng rng(9);
  for (int row = 0; row < 1000; ++row) {
    lengths.push_back(static_cast<std::int64_t>(50 * rng.uniform() * rng.uniform()));
  }
  lengths[400] = 5000;  // of which one rank has no more than this
  const auto offsets = offsets_of(lengths);
  const auto cost = [](std::int64_t count) { return static_cast<double>(3 * count + 10); };
  for (const int ranks : {1, 2, 4, 7}) {
    for (const int parts : {1, 2, 4}) {
      const RowShards shards = shard_rows(offsets, cost, ranks, parts);
      ASSERT_EQ(shards.ranks(), ranks);
      ASSERT_EQ(shards.parts_of_rank(), parts);
      std::int64_t at = 0;
      double all = 0, longest = 0;
      for (const std::int64_t length : lengths) {
        all += cost(length);
        longest = std::max(longest, cost(length));
      }
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(shards.own(rank).begin, at);
        double work = 0;
        for (int part = 0; part < parts; ++part) {
          const RowRange rows = shards.part(rank, part);
          ASSERT_EQ(rows.begin, at);
          ASSERT_GE(rows.size(), 0);
          double of_part = 0;
          for (; at < rows.end; ++at) of_part += cost(lengths[at]);
          EXPECT_LE(of_part, (all / ranks + longest) / parts + longest);
          work += of_part;
        }
        EXPECT_EQ(shards.own(rank).end, at);
        EXPECT_LE(work, all / ranks + longest);
      }
      EXPECT_EQ(at, std::ssize(lengths));
    }
  }
}

// Blocks of rows end within parts, and the longest ratings beside rows without any.
TEST(RowShards, AreThoseOfARowByRowCutByAnyThreads) {
  std::vector<std::int64_t> lengths(30'011);
  Rng rng(6);
  for (auto& length : lengths)
    length = rng.uniform() < .2 ? 0 : static_cast<std::int64_t>(20 / (.001 + rng.uniform()));
  std::fill(lengths.begin() + 9000, lengths.begin() + 14'000, 0);
  const auto offsets = offsets_of(lengths);
  const auto cost = [](std::int64_t count) { return static_cast<double>(count); };
  const PartShares shares = {.5, .25, .25};
  const RowShards single = shard_rows(offsets, cost, 4, shares);
  ThreadTeam team(3);
  EXPECT_EQ(shard_rows(offsets, cost, 4, shares, &team).parts, single.parts);

  std::vector<std::int64_t> expected = {0};
  const auto quarter = static_cast<double>(offsets.back()) / 4;
  for (std::int64_t row = 0; row < std::ssize(lengths); ++row) {
    const double middle = static_cast<double>(offsets[row] + offsets[row + 1]) / 2;
    if (std::ssize(expected) < 4 && middle >= quarter * static_cast<double>(std::ssize(expected)))
      expected.push_back(row);
  }
  expected.push_back(std::ssize(lengths));
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(single.own(rank).begin, expected[rank]);
    EXPECT_EQ(single.own(rank).end, expected[rank + 1]);
  }
}

TEST(RowShards, AreTheSameWhereEachRankReadsItsShareOfTheRows) {
  for (const std::int64_t rows : {1'100'003, 5}) {
    std::vector<std::int64_t> lengths(rows);
    Rng rng(8);
    for (auto& length : lengths) length = static_cast<std::int64_t>(4 / (.01 + rng.uniform()));
    const auto offsets = offsets_of(lengths);
    const RowCost cost = [](std::int64_t count) { return 1.1 * static_cast<double>(count) + .3; };
    const PartShares shares = {.75, .25};
    for (const int count : {2, 3}) {
      const RowShards single = shard_rows(offsets, cost, count, shares);
      double work = 0;
      for (const std::int64_t length : lengths) work += cost(length);
      const auto errors = test::in_rank_threads(count, [&](Communicator& ranks) {
        ThreadTeam team(2);
        const PartRule rule = [&](double all) {
          EXPECT_NEAR(all / work, 1, 1e-9);
          return shares;
        };
        EXPECT_EQ(shard_rows(offsets, cost, ranks, rule, team).parts, single.parts);
      });
      for (const auto& error : errors) EXPECT_EQ(error, "");
    }
  }
}

TEST(RowShards, OfOneRankAreAllRows) {
  const auto offsets = offsets_of({3, 0, 2});
  const RowShards one = one_shard(3);
  EXPECT_EQ(one.parts, shard_rows(offsets, ratings_and(7), 1, 1).parts);
  EXPECT_EQ(one.ranks(), 1);
  EXPECT_EQ(one.parts_of_rank(), 1);
  EXPECT_EQ(one.own(0).size(), 3);
  EXPECT_EQ(one_shard(0).own(0).size(), 0);
}

TEST(RowShards, MoreRanksAndPartsThanRows) {
  const auto cost = [](std::int64_t count) { return static_cast<double>(count); };
  for (const auto& lengths : {std::vector<std::int64_t>{2}, {1, 1}, {0, 0, 0}, {}}) {
    const auto offsets = offsets_of(lengths);
    const RowShards shards = shard_rows(offsets, cost, 3, 4);
    std::int64_t at = 0;
    for (int rank = 0; rank < 3; ++rank) {
      for (int part = 0; part < 4; ++part) {
        EXPECT_EQ(shards.part(rank, part).begin, at);
        at = shards.part(rank, part).end;
      }
    }
    EXPECT_EQ(at, std::ssize(lengths));
  }
}

}  // namespace
}  // namespace mf
