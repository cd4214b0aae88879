#include "algorithms/ials/fused/plan.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/als/fused/plan.hpp"

namespace mf::ials {

SidePlan plan_side(View<const std::int64_t> offsets, std::int64_t longest,
                   std::int64_t applied_up_to) {
  als::FusedPlan fused = als::plan_fused(offsets, longest);
  SidePlan plan;
  plan.slots = fused.slots;
  plan.tasks = std::move(fused.tasks);
  for (als::FusedTask& task : plan.tasks) task.row_count = std::min(task.row_count, 1);
  const auto applied = std::stable_partition(
      plan.tasks.begin(), plan.tasks.end(),
      [&](const als::FusedTask& task) { return task.parts > 1 || task.count > applied_up_to; });
  plan.formed = applied - plan.tasks.begin();
  return plan;
}

}  // namespace mf::ials
