// The tasks of ials_fused, made on the host one after the other, as fused/plan.hpp makes them on
// the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithms/als/fused/applied/plan.hpp"
#include "algorithms/als/test/plan_fused.hpp"

namespace mf::ials::test {

struct HostPlan {
  std::vector<als::FusedTask> tasks;
  std::int64_t formed = 0;
  std::int32_t slots = 0;
};

inline HostPlan plan_side(View<const std::int64_t> offsets, std::int64_t longest,
                          std::int64_t applied_up_to) {
  als::test::FusedPlan fused = als::test::plan_fused(offsets, longest);
  HostPlan plan;
  plan.slots = fused.slots;
  plan.tasks = std::move(fused.tasks);
  for (als::FusedTask& task : plan.tasks) task.row_count = std::min(task.row_count, 1);
  const auto applied = std::stable_partition(
      plan.tasks.begin(), plan.tasks.end(),
      [&](const als::FusedTask& task) { return task.parts > 1 || task.count > applied_up_to; });
  plan.formed = applied - plan.tasks.begin();
  return plan;
}

// For tasks from `first` on, each a whole row, the longest first.
inline als::AppliedPlan plan_applied(View<const als::FusedTask> tasks, std::int64_t first,
                                     const als::AppliedCapacities& most) {
  als::AppliedPlan plan;
  for (std::int64_t i = first; i < tasks.size(); ++i) {
    const std::int64_t pairs = tasks[i].count;
    int k = 0;
    while (k + 1 < als::kAppliedShapes && most.pairs[k] < pairs) ++k;
    const bool streamed = most.pairs[k] < pairs;
    const als::AppliedShape& shape = als::kAppliedShape[k];
    if (plan.empty() || plan.back().shape != shape || plan.back().streamed != streamed) {
      plan.push_back({i, 0, shape, streamed ? 0 : pairs, streamed});
    }
    ++plan.back().count;
  }
  return plan;
}

}  // namespace mf::ials::test
