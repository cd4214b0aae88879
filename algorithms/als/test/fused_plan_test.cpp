#include "algorithms/als/fused_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/rng.hpp"

namespace mf::als {
namespace {

std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> offsets = {0};
  for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

TEST(FusedPlan, EveryRatingIsInOneTaskAndTheLongestComeFirst) {
  Rng rng(5);
  for (const std::int64_t longest : {1, 32, 100, 100000}) {
    std::vector<std::int64_t> lengths = {0, 1, 100, 101, 0, 5000};
    for (int row = 0; row < 50; ++row)
      lengths.push_back(static_cast<std::int64_t>(rng.uniform() * 300));
    const auto offsets = offsets_of(lengths);
    const FusedPlan plan = plan_fused(offsets, longest);
    std::vector<int> seen(static_cast<std::size_t>(offsets.back()), 0);
    std::vector<std::int32_t> parts(lengths.size(), 0);
    std::set<std::int32_t> slots;
    std::int32_t last = plan.tasks.front().count;
    for (const FusedTask& task : plan.tasks) {
      EXPECT_LE(task.count, last);
      last = task.count;
      EXPECT_LE(task.count, longest);
      const auto row = static_cast<std::size_t>(task.row);
      EXPECT_EQ(task.row_count, lengths[row]);
      EXPECT_GE(task.begin, offsets[row]);
      EXPECT_LE(task.begin + task.count, offsets[row + 1]);
      ++parts[row];
      if (task.parts > 1) {
        EXPECT_TRUE(slots.insert(task.first_slot + task.part).second);
      }
      for (std::int64_t k = 0; k < task.count; ++k)
        ++seen[static_cast<std::size_t>(task.begin + k)];
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    for (const FusedTask& task : plan.tasks) {
      EXPECT_EQ(parts[static_cast<std::size_t>(task.row)], task.parts);
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
  EXPECT_LE(plan.tasks.front().count - plan.tasks.back().count, 1);
}

TEST(FusedPlan, TheSnakeVisitsEveryTaskOnce) {
  for (const std::int64_t blocks : {1, 3, 7}) {
    std::set<std::int64_t> seen;
    for (std::int64_t turn = 0; turn < 9; ++turn) {
      for (std::int64_t block = 0; block < blocks; ++block) {
        EXPECT_TRUE(seen.insert(snake(turn, block, blocks)).second);
      }
    }
    EXPECT_EQ(*seen.rbegin(), 9 * blocks - 1);
  }
}

TEST(FusedPlan, TheTilesHoldTheFactors) {
  for (int f = 1; f <= 256; ++f) {
    EXPECT_GE(fused_stride(f), f);
    EXPECT_EQ(fused_stride(f) % 16, 0);
    EXPECT_GE(fused_warps(fused_tiles(f)) * 32, fused_stride(f));  // an element a thread
  }
  EXPECT_EQ(fused_stride(100), 112);
}

}  // namespace
}  // namespace mf::als
