#include "algorithms/als/fused/plan.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace mf::als {
namespace {

void add_parts(FusedPlan& plan, std::int32_t row, std::int64_t begin, std::int64_t count,
               std::int64_t longest) {
  const std::int64_t parts = parts_of_row(count, longest);
  FusedTask task;
  task.row = row;
  task.row_count = static_cast<std::int32_t>(count);
  task.parts = static_cast<std::int32_t>(parts);
  if (parts > 1) {
    if (plan.slots > std::numeric_limits<std::int32_t>::max() - parts) {
      fail(ErrorKind::unsupported,
           "als_fused: split_rows {} cuts the rows into more than 2^31 parts; raise it", longest);
    }
    task.first_slot = plan.slots;
    plan.slots += task.parts;
  }
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t from = part_begin(count, part, parts);
    task.begin = begin + from;
    task.count = static_cast<std::int32_t>(part_begin(count, part + 1, parts) - from);
    task.part = static_cast<std::int32_t>(part);
    plan.tasks.push_back(task);
  }
}

}  // namespace

FusedPlan plan_fused(View<const std::int64_t> offsets, std::int64_t longest) {
  FusedPlan plan;
  const std::int64_t rows = offsets.size() - 1;
  plan.tasks.reserve(rows);
  for (std::int32_t row = 0; row < rows; ++row) {
    add_parts(plan, row, offsets[row], offsets[row + 1] - offsets[row], longest);
  }
  std::stable_sort(plan.tasks.begin(), plan.tasks.end(),
                   [](const FusedTask& a, const FusedTask& b) { return a.count > b.count; });
  return plan;
}

}  // namespace mf::als
