// The schedule of `exchange: reduce`: who forms, sends, adds and solves rows, in which memory.
#include "algorithms/als/cumf/reduce_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "algorithms/als/cumf/settings.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "testing/test_support.hpp"
#include "testing/triples.hpp"

namespace mf::als {
namespace {

using mf::test::offsets_of;

struct Shape {
  std::vector<std::int64_t> lengths;
  int ranks;
};

// Rows without ratings, giants, more ranks than rows, a side whose ratings are all of one rank.
std::vector<Shape> shapes() {
  std::vector<Shape> all = {{{5}, 1}, {{5}, 4}, {{0, 0, 3}, 2}, {{0, 0}, 3}, {{100000, 1, 1}, 2},
                            {{}, 2}};
  Rng rng(3);
  for (const int ranks : {1, 2, 3, 4, 7}) {
    Shape one{{}, ranks};
    for (int row = 0; row < 500; ++row) {
      one.lengths.push_back(
          static_cast<std::int64_t>(rng.below(1 + rng.below(row % 50 == 7 ? 40'000 : 30))));
    }
    all.push_back(one);
    std::sort(one.lengths.begin(), one.lengths.end());
    all.push_back(one);
  }
  return all;
}

RowShards shards_of(const std::vector<std::int64_t>& offsets, int ranks) {
  return shard_rows(offsets, ratings_and(12), ranks, 1);
}

std::int64_t kept(std::int64_t length, std::int64_t split) {
  const std::int64_t parts = parts_of(length, split, kMaxRowParts);
  return parts > 1 ? parts : 0;
}

TEST(ReducePlan, EveryRowWithRatingsIsFormedOnceAndSolvedByItsOwner) {
  for (const Shape& shape : shapes()) {
    const auto offsets = offsets_of(shape.lengths);
    const RowShards shards = shards_of(offsets, shape.ranks);
    for (const std::int64_t rows : {1LL, 10LL, 77LL, 1'000'000LL}) {
      const ReducePlan plan = plan_reduce(offsets, shards, {rows, 1 << 20, 64});
      std::vector<int> seen(shape.lengths.size(), 0);
      for (std::int64_t batch = 0; batch < plan.batches(); ++batch) {
        EXPECT_LE(plan.of_batch(batch).size(), std::max<std::int64_t>(rows, shape.ranks));
        EXPECT_EQ(plan.of_rank(batch, 0).begin, plan.of_batch(batch).begin);
        EXPECT_EQ(plan.of_rank(batch, shape.ranks - 1).end, plan.of_batch(batch).end);
        for (int rank = 0; rank < shape.ranks; ++rank) {
          const Range range = plan.of_rank(batch, rank);
          for (std::int64_t at = range.begin; at < range.end; ++at) {
            const std::int32_t row = plan.rows[at];
            ++seen[row];
            EXPECT_GE(row, shards.own(rank).begin);
            EXPECT_LT(row, shards.own(rank).end);
          }
        }
      }
      for (std::size_t row = 0; row < seen.size(); ++row) {
        EXPECT_EQ(seen[row], shape.lengths[row] > 0 ? 1 : 0);
      }
    }
  }
}

// Batches end when the parts of long rows are used up; none is smaller than one row a rank.
TEST(ReducePlan, PartsOfABatchHaveRoom) {
  for (const Shape& shape : shapes()) {
    const auto offsets = offsets_of(shape.lengths);
    const RowShards shards = shards_of(offsets, shape.ranks);
    for (const std::int64_t room : {64LL, 300LL}) {
      const ReducePlan plan = plan_reduce(offsets, shards, {1 << 20, room, 50});
      for (std::int64_t batch = 0; batch < plan.batches(); ++batch) {
        const Range range = plan.of_batch(batch);
        std::int64_t parts = 0;
        for (std::int64_t at = range.begin; at < range.end; ++at) {
          parts += kept(shape.lengths[plan.rows[at]], 50);
        }
        EXPECT_LE(parts,
                  range.size() <= shape.ranks ? std::max(room, shape.ranks * kMaxRowParts) : room);
      }
    }
  }
}

// Ranks as steps of a loop: each forms the sums of its ratings at the slots of a batch, sends the
// others' sums, and adds those it receives. Exact in integers.
TEST(ReducePlan, SumsOfAllRanksReachTheOwnerOnce) {
  Rng rng(9);
  for (const Shape& shape : shapes()) {
    const auto offsets = offsets_of(shape.lengths);
    const std::int64_t rows = offsets.size() - 1;
    const int ranks = shape.ranks;
    std::vector<std::vector<std::int64_t>> of_rank(ranks, std::vector<std::int64_t>(rows, 0));
    std::vector<std::int64_t> all(rows, 0), got(rows, 0);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0; k < std::min<std::int64_t>(shape.lengths[row], 40); ++k) {
        const auto value = static_cast<std::int64_t>(rng.below(1000));
        of_rank[rng.below(ranks)][row] += value;
        all[row] += value;
      }
    }
    const ReducePlan plan = plan_reduce(offsets, shards_of(offsets, ranks), {30, 1 << 20, 0});
    for (std::int64_t batch = 0; batch < plan.batches(); ++batch) {
      const Range slots = plan.of_batch(batch);
      for (int owner = 0; owner < ranks; ++owner) {
        const Range own = plan.of_rank(batch, owner);
        for (int from = 0; from < ranks; ++from) {
          std::vector<std::int64_t> formed(slots.size());
          for (std::int64_t s = 0; s < slots.size(); ++s) {
            formed[s] = of_rank[from][plan.rows[slots.begin + s]];
          }
          for (std::int64_t s = 0; s < own.size(); ++s) {
            got[plan.rows[own.begin + s]] += formed[own.begin - slots.begin + s];
          }
        }
      }
    }
    EXPECT_EQ(got, all);
  }
}

// The least that a rank receives: K - 1 parts of A and b for a K-th of the rows. f + 1 times the
// bytes of a gather of the rows, if f is a multiple of four.
TEST(ReducePlan, MovesFPlusOneTimesWhatAGatherDoes) {
  const std::vector<std::int64_t> lengths(4000, 10);
  const auto offsets = offsets_of(lengths);
  for (const int ranks : {2, 4}) {
    const ReducePlan plan = plan_reduce(offsets, shards_of(offsets, ranks), {500, 0, 0});
    EXPECT_EQ(plan.batches(), 8);
    for (int rank = 0; rank < ranks; ++rank) {
      std::int64_t received = 0;  // the parts of all others for its own rows
      for (std::int64_t batch = 0; batch < plan.batches(); ++batch) {
        received += (ranks - 1) * plan.of_rank(batch, rank).size();
      }
      const double bytes = static_cast<double>(received) * reduced_system_bytes(100);
      const double gathered = 4.0 * 100 * 4000 * (ranks - 1) / ranks;
      EXPECT_DOUBLE_EQ(bytes, 101 * gathered);
    }
  }
}

Params params_with(const Json& changes) { return default_params(als_params(), changes); }

TEST(AlsReduce, IsForSeveralDevicesAndSaysSo) {
  const ProblemShape shape{100, 100, 1000};
  const auto why = als_why_unsupported(params_with({{"exchange", "reduce"}}), shape);
  EXPECT_HAS(why.value_or(""), "devices");
  EXPECT_FALSE(als_why_unsupported(params_with({{"exchange", "reduce"}, {"devices", 2}}), shape));
  const auto solved = als_why_unsupported(
      params_with({{"exchange", "reduce"}, {"devices", 2}, {"center", "solved"}}), shape);
  EXPECT_HAS(solved.value_or(""), "use exchange \"gather\"");
  EXPECT_FALSE(als_why_unsupported(params_with({{"devices", 2}, {"center", "solved"}}), shape));
  EXPECT_FALSE(params_with(Json::object()).to_json().contains("exchange"));
  EXPECT_FALSE(
      params_with({{"exchange", "gather"}, {"devices", 2}}).to_json().contains("exchange"));
}

}  // namespace
}  // namespace mf::als
