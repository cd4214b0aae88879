// Which thread block forms which part of which A_u: rows by length, in batches that fit, the giants
// cut into parts. device_plan.hpp makes it once; R does not change.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/als/cumf/tasks.hpp"
#include "base/host_device.hpp"
#include "base/view.hpp"

namespace mf::als {

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  MF_HD constexpr std::int64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

struct RowBatch {
  Range rows;  // of SidePlan::order; slot 0 is the first
  Range tasks, splits;
  Range bias_tasks, bias_splits;
  bool operator==(const RowBatch&) const = default;
};

struct PlanRule {
  std::int64_t batch_rows = 1;   // at most, at least 1
  std::int64_t batch_parts = 0;  // at most; at least kMaxRowParts if rows are split
  std::int64_t split_rows = 0;   // longer rows are cut; 0: never
};

// The most parts of a row, which bounds the smallest batch.
constexpr std::int64_t kMaxRowParts = 64;
// b is cheap to cut: a part is one vector.
constexpr std::int64_t kBiasSplit = 2048;
constexpr std::int64_t kMaxBiasParts = 1024;

// Into how many parts a row of `count` ratings is cut.
MF_HD constexpr std::int64_t parts_of(std::int64_t count, std::int64_t split, std::int64_t most) {
  if (split <= 0 || count <= split) return 1;
  const std::int64_t parts = (count + split - 1) / split;
  return parts < most ? parts : most;
}

// Part i of a row: even cuts, in the row's order.
MF_HD constexpr Range part_range(std::int64_t count, std::int64_t parts, std::int64_t i) {
  return {count * i / parts, count * (i + 1) / parts};
}

// Starts of batches among the rows that have ratings, the longest first, and the end of the last.
// `split`: numbers of parts of the first rows, which are cut. Fails (std::logic_error) if the rule
// cannot be kept.
std::vector<std::int64_t> cut_batches(View<const std::int64_t> split, std::int64_t rows,
                                      const PlanRule& rule);

// How many matrices to make room for.
struct Capacity {
  std::int64_t rows = 1;
  std::int64_t parts = 0;
};

// rows_wanted, parts_wanted: the needs of one batch of the larger side. asked: 0, or the most rows
// of a batch. Never below the needs of the smallest batch, even if they exceed `budget_bytes`: the
// allocation then says so.
Capacity choose_capacity(std::int64_t rows_wanted, std::int64_t parts_wanted, std::int64_t asked,
                         double row_bytes, double part_bytes, double budget_bytes);

// The share of a device's free memory for the systems of a batch: without b's parts and the plan of
// `rows` rows, which come later, and without a reserve for others.
double system_budget(double free_bytes, double nnz, double rows, double vector_bytes);

// For a row of a batch: A, b, its parts of b (about one if rows are short), pointers.
double system_bytes(double a_bytes, double vector_bytes);

}  // namespace mf::als
