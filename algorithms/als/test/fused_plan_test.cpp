#include "algorithms/als/test/plan_fused.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "algorithms/core/ranks/part_order.hpp"
#include "base/rng.hpp"
#include "testing/triples.hpp"

namespace mf::als {
namespace {

using mf::test::offsets_of;
using test::FusedPlan;
using test::plan_fused;

TEST(FusedPlan, PartsOfARowAreAllOfItAndDifferByAtMostOne) {
  for (const std::int64_t count : {1, 99, 100, 101, 5000, 1'000'003}) {
    for (const std::int64_t longest : {32, 100, 4096, 2'000'000}) {
      const std::int64_t parts = parts_of_row(count, longest);
      EXPECT_EQ(part_begin(count, 0, parts), 0);
      EXPECT_EQ(part_begin(count, parts, parts), count);
      for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t size =
            part_begin(count, part + 1, parts) - part_begin(count, part, parts);
        EXPECT_LE(size, longest);
        EXPECT_LE(std::abs(size - count / parts), 1);
      }
    }
  }
}

// The sort key orders two parts as the plan says, and fits its bits.
TEST(FusedPlan, ThePartsNumberIsTheirOrder) {
  Rng rng(6);
  for (const std::int64_t longest : {1, 30, 100, 1 << 20}) {
    std::vector<std::int64_t> lengths;
    for (int row = 0; row < 60; ++row) {
      lengths.push_back(static_cast<std::int64_t>(rng.below(1 + rng.below(400))));
    }
    const auto offsets = offsets_of(lengths);
    const FusedPlan plan = plan_fused(offsets, longest);
    for (const std::int64_t last_up_to : {-1, 0, 20, 1000}) {
      const auto is_last = [&](const FusedTask& task) {
        return task.parts == 1 && task.count <= last_up_to;
      };
      std::vector<FusedTask> tasks = plan.tasks;
      std::stable_partition(tasks.begin(), tasks.end(),
                            [&](const FusedTask& task) { return !is_last(task); });
      const auto number = [&](const FusedTask& task) {
        return part_order(task, offsets[task.row], longest, last_up_to);
      };
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        EXPECT_GE(number(tasks[i]), 0);
        EXPECT_LT(number(tasks[i]), part_orders(longest));
        if (i == 0) continue;
        const bool before = test::comes_before(tasks[i - 1], tasks[i], offsets) ||
                            is_last(tasks[i - 1]) != is_last(tasks[i]);
        EXPECT_EQ(number(tasks[i - 1]) < number(tasks[i]), before) << i << " at " << longest;
      }
    }
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  EXPECT_LT(part_orders(kMost), std::int64_t{1} << 33);
}

TEST(FusedPlan, TheTilesHoldTheFactors) {
  for (int f = 1; f <= 256; ++f) {
    EXPECT_GE(fused_tiles(f) * kFusedTile, f);
    EXPECT_GE(fused_stride(f), fused_tiles(f) * kFusedTile);
    EXPECT_EQ(fused_stride(f) % 16, 0);  // whole sectors of 32 bytes
  }
  EXPECT_EQ(fused_stride(100), 128);
}

TEST(FusedPlan, EveryBlockOfAHasAPlaceOfItsOwn) {
  for (const int tiles : kFusedTileCounts) {
    for (const bool two_words : {false, true}) {
      const int warps = fused_warps(tiles, two_words);
      const FusedMap map = fused_map(tiles, warps);
      std::set<std::pair<int, int>> places;
      std::set<std::pair<int, int>> ordinals;
      for (int row = 0; row < tiles; ++row) {
        EXPECT_LT(map.warp[row], warps);
        EXPECT_LT(map.ordinal[row], map.rows);
        EXPECT_LT(row, map.columns[map.warp[row]]);
        EXPECT_TRUE(ordinals.insert({map.warp[row], map.ordinal[row]}).second);
        for (int column = 0; column <= row; ++column) {
          const int slot = map.first_slot[row] + column;
          EXPECT_LT(slot, map.slots);
          EXPECT_TRUE(places.insert({map.warp[row], slot}).second);
        }
      }
      // No warp has many more blocks than its share, unless it has only the longest row.
      EXPECT_LE(map.slots * warps, std::max(tiles * (tiles + 1) / 2 + 3 * warps, tiles * warps));
    }
  }
}

}  // namespace
}  // namespace mf::als
