// How als_fused cuts the rows of a half-step into tasks for thread blocks, on the host, as cut_rows
// (core/cuda/ratings/cut_rows.hpp) does on the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithms/als/fused/layout.hpp"
#include "base/view.hpp"

namespace mf::als::test {

struct FusedPlan {
  std::vector<FusedTask> tasks;  // in the order of comes_before(); also rows without ratings
  std::int32_t slots = 0;        // of all split rows
};

inline void add_parts(FusedPlan& plan, std::int32_t row, std::int64_t begin, std::int64_t count,
                      std::int64_t longest) {
  const std::int64_t parts = parts_of_row(count, longest);
  FusedTask task;
  task.row = row;
  task.row_count = static_cast<std::int32_t>(count);
  task.parts = static_cast<std::int32_t>(parts);
  if (parts > 1) {
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

// Parts of split rows by the 65,536th of their row that they begin in; then whole rows, the longest
// first.
inline bool comes_before(const FusedTask& a, const FusedTask& b, View<const std::int64_t> offsets) {
  const auto place = [&](const FusedTask& task) {
    return (task.begin - offsets[task.row]) * 65'536 / task.row_count;
  };
  if (a.parts > 1 && b.parts > 1) return place(a) < place(b);
  if (a.parts > 1 || b.parts > 1) return a.parts > 1;
  return a.count > b.count;
}

// offsets: rows + 1. A row of more than `longest` ratings is split.
inline FusedPlan plan_fused(View<const std::int64_t> offsets, std::int64_t longest) {
  FusedPlan plan;
  const std::int64_t rows = offsets.size() - 1;
  plan.tasks.reserve(rows);
  for (std::int32_t row = 0; row < rows; ++row) {
    add_parts(plan, row, offsets[row], offsets[row + 1] - offsets[row], longest);
  }
  std::stable_sort(
      plan.tasks.begin(), plan.tasks.end(),
      [&](const FusedTask& a, const FusedTask& b) { return comes_before(a, b, offsets); });
  return plan;
}

}  // namespace mf::als::test
