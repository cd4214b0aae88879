#include "algorithms/ials/fused/plan.hpp"

#include <algorithm>

namespace mf::ials {

als::FusedPlan plan_side(View<const std::int64_t> offsets, std::int64_t longest) {
  als::FusedPlan plan = als::plan_fused(offsets, longest);
  for (als::FusedTask& task : plan.tasks) task.row_count = std::min(task.row_count, 1);
  return plan;
}

}  // namespace mf::ials
