// The plan of a side by walks over its rows, on the host, as cumf/device_plan.hpp makes it on the
// device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "algorithms/als/cumf/plan.hpp"

namespace mf::als::test {

struct SidePlan {
  std::vector<std::int32_t> order;  // rows that have ratings: longest first, then by index
  std::vector<std::int32_t> empty;  // the others
  std::vector<RowTask> tasks, bias_tasks;
  std::vector<SplitRow> splits, bias_splits;
  std::vector<RowBatch> batches;
  std::int64_t most_rows = 0;  // of a batch
  std::int64_t most_parts = 0;
  std::int64_t most_bias_parts = 0;
};

inline std::int64_t length(View<const std::int64_t> offsets, std::int32_t row) {
  return offsets[row + 1] - offsets[row];
}

inline void sort_rows(View<const std::int64_t> offsets, SidePlan& plan) {
  const auto rows = static_cast<std::int32_t>(offsets.size()) - 1;
  for (std::int32_t row = 0; row < rows; ++row) {
    (length(offsets, row) > 0 ? plan.order : plan.empty).push_back(row);
  }
  std::stable_sort(plan.order.begin(), plan.order.end(), [&](std::int32_t a, std::int32_t b) {
    return length(offsets, a) > length(offsets, b);
  });
}

// The tasks of one row; returns the first part that is free after it.
inline std::int64_t add_row(std::int64_t begin, std::int64_t count, std::int32_t row,
                            std::int64_t slot, std::int64_t parts, std::int64_t first_part,
                            std::vector<RowTask>& tasks, std::vector<SplitRow>& splits) {
  const auto slot32 = static_cast<std::int32_t>(slot);
  if (parts == 1) {
    tasks.push_back({begin, static_cast<std::int32_t>(count), row, slot32, -1});
    return first_part;
  }
  splits.push_back(
      {count, slot32, static_cast<std::int32_t>(first_part), static_cast<std::int32_t>(parts)});
  for (std::int64_t i = 0; i < parts; ++i) {
    const Range range = part_range(count, parts, i);
    tasks.push_back({begin + range.begin, static_cast<std::int32_t>(range.size()), row, slot32,
                     static_cast<std::int32_t>(first_part + i)});
  }
  return first_part + parts;
}

// Thread blocks start in the order of their tasks: the longest must not come last.
inline void longest_first(std::vector<RowTask>& tasks, std::int64_t begin) {
  std::stable_sort(tasks.begin() + begin, tasks.end(),
                   [](const RowTask& a, const RowTask& b) { return a.count > b.count; });
}

// Parts of all rows that are cut, with no limit to a batch.
inline std::int64_t all_parts(View<const std::int64_t> offsets, std::int64_t split) {
  std::int64_t all = 0;
  for (std::int64_t row = 0; row + 1 < offsets.size(); ++row) {
    const std::int64_t parts = parts_of(offsets[row + 1] - offsets[row], split, kMaxRowParts);
    if (parts > 1) all += parts;
  }
  return all;
}

// offsets: rows + 1. Fails (std::logic_error) if the rule cannot be kept.
inline SidePlan make_side_plan(View<const std::int64_t> offsets, const PlanRule& rule) {
  SidePlan plan;
  sort_rows(offsets, plan);
  const std::int64_t rows = std::ssize(plan.order);
  for (std::int64_t at = 0; at < rows;) {
    RowBatch batch;
    batch.rows.begin = at;
    batch.tasks.begin = std::ssize(plan.tasks);
    batch.splits.begin = std::ssize(plan.splits);
    batch.bias_tasks.begin = std::ssize(plan.bias_tasks);
    batch.bias_splits.begin = std::ssize(plan.bias_splits);
    std::int64_t used = 0;
    std::int64_t bias_used = 0;
    for (; at < rows && at - batch.rows.begin < rule.batch_rows; ++at) {
      const std::int32_t row = plan.order[at];
      const std::int64_t begin = offsets[row];
      const std::int64_t count = length(offsets, row);
      const std::int64_t parts = parts_of(count, rule.split_rows, kMaxRowParts);
      if (parts > 1 && used + parts > rule.batch_parts) break;
      const std::int64_t slot = at - batch.rows.begin;
      used = add_row(begin, count, row, slot, parts, used, plan.tasks, plan.splits);
      bias_used = add_row(begin, count, row, slot, parts_of(count, kBiasSplit, kMaxBiasParts),
                          bias_used, plan.bias_tasks, plan.bias_splits);
    }
    batch.rows.end = at;
    if (batch.rows.size() == 0) throw std::logic_error("als: no room for the parts of one row");
    batch.tasks.end = std::ssize(plan.tasks);
    batch.splits.end = std::ssize(plan.splits);
    batch.bias_tasks.end = std::ssize(plan.bias_tasks);
    batch.bias_splits.end = std::ssize(plan.bias_splits);
    longest_first(plan.tasks, batch.tasks.begin);
    longest_first(plan.bias_tasks, batch.bias_tasks.begin);
    plan.most_rows = std::max(plan.most_rows, batch.rows.size());
    plan.most_parts = std::max(plan.most_parts, used);
    plan.most_bias_parts = std::max(plan.most_bias_parts, bias_used);
    plan.batches.push_back(batch);
  }
  return plan;
}

}  // namespace mf::als::test
