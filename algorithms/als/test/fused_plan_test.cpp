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

TEST(FusedPlan, EveryRatingIsInOneTaskAndTheLongestWholeRowsComeFirst) {
  Rng rng(5);
  for (const std::int64_t longest : {1, 32, 100, 100000}) {
    std::vector<std::int64_t> lengths = {0, 1, 100, 101, 0, 5000};
    for (int row = 0; row < 50; ++row)
      lengths.push_back(static_cast<std::int64_t>(rng.uniform() * 300));
    const auto offsets = offsets_of(lengths);
    const FusedPlan plan = plan_fused(offsets, longest);
    std::vector<int> seen(offsets.back(), 0);
    std::vector<std::int32_t> parts(lengths.size(), 0);
    std::set<std::int32_t> slots;
    std::int32_t last = std::numeric_limits<std::int32_t>::max();
    for (const FusedTask& task : plan.tasks) {
      if (task.parts == 1) {
        EXPECT_LE(task.count, last);
        last = task.count;
      } else {
        EXPECT_EQ(last, std::numeric_limits<std::int32_t>::max()) << "after a whole row";
      }
      EXPECT_LE(task.count, longest);
      const std::int32_t row = task.row;
      EXPECT_EQ(task.row_count, lengths[row]);
      EXPECT_GE(task.begin, offsets[row]);
      EXPECT_LE(task.begin + task.count, offsets[row + 1]);
      ++parts[row];
      if (task.parts > 1) {
        EXPECT_TRUE(slots.insert(task.first_slot + task.part).second);
      }
      for (std::int64_t k = 0; k < task.count; ++k) ++seen[task.begin + k];
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    for (const FusedTask& task : plan.tasks) {
      EXPECT_EQ(parts[task.row], task.parts);
      EXPECT_LT(task.part, task.parts);
    }
    EXPECT_EQ(static_cast<std::int32_t>(slots.size()), plan.slots);
    if (!slots.empty()) {
      EXPECT_EQ(*slots.rbegin() + 1, plan.slots);
    }
  }
}

TEST(FusedPlan, PartsOfARowDifferByAtMostOne) {
  const FusedPlan plan = plan_fused(offsets_of({1000003}), 4096);
  EXPECT_EQ(plan.tasks.size(), 245U);
  const auto [least, most] =
      std::minmax_element(plan.tasks.begin(), plan.tasks.end(),
                          [](const FusedTask& a, const FusedTask& b) { return a.count < b.count; });
  EXPECT_LE(most->count - least->count, 1);
}

// Two rows are split: the halves of one lie around the second third of the other.
TEST(FusedPlan, PartsComeByTheirPlaceInTheRow) {
  const FusedPlan plan = plan_fused(offsets_of({7, 190, 290, 9}), 100);
  std::vector<std::pair<int, int>> order;
  for (const FusedTask& task : plan.tasks) order.emplace_back(task.row, task.part);
  EXPECT_EQ(order, (std::vector<std::pair<int, int>>{
                       {1, 0}, {2, 0}, {2, 1}, {1, 1}, {2, 2}, {3, 0}, {0, 0}}));
}

// What the device sorts by, against what it says of two parts; and that it fits its bits.
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
