#include "algorithms/als/cumf/plan.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace mf::als {
namespace {

// Share of the free memory left to others: the evaluator, libraries, the driver.
constexpr double kReserve = 0.1;
constexpr double kLeastReserve = 1 << 30;

}  // namespace

double system_budget(double free_bytes, double nnz, double rows, double vector_bytes) {
  const double later = nnz / kBiasSplit * (vector_bytes + 64) + rows * 64;
  return std::max(0.0, free_bytes - later - std::max(kLeastReserve, kReserve * free_bytes));
}

double system_bytes(double a_bytes, double vector_bytes) { return a_bytes + 2 * vector_bytes + 32; }

std::vector<std::int64_t> cut_batches(View<const std::int64_t> split, std::int64_t rows,
                                      const PlanRule& rule) {
  std::vector<std::int64_t> begins = {0};
  while (begins.back() < rows) {
    const std::int64_t begin = begins.back();
    const std::int64_t most = std::min(rows - begin, rule.batch_rows);
    std::int64_t end = begin;
    std::int64_t used = 0;
    for (; end < split.size() && end - begin < most; ++end) {
      if (used + split[end] > rule.batch_parts) break;
      used += split[end];
    }
    if (end >= split.size()) end = begin + most;
    if (end == begin) throw std::logic_error("als: no room for the parts of one row");
    begins.push_back(end);
  }
  return begins;
}

Capacity choose_capacity(std::int64_t rows_wanted, std::int64_t parts_wanted, std::int64_t asked,
                         double row_bytes, double part_bytes, double budget_bytes) {
  const auto fits = [](double bytes, double each) {
    return static_cast<std::int64_t>(std::clamp(std::floor(bytes / each), 0.0, 1e12));
  };
  const std::int64_t rows_limit = std::max<std::int64_t>(rows_wanted, 1);
  Capacity room;
  if (asked > 0) {
    room.rows = std::min(asked, rows_limit);
    room.parts = std::min(parts_wanted, std::max(kMaxRowParts, room.rows));
    return room;
  }
  // Parts are few beside rows, and a batch ends when they are used up: an eighth is enough.
  room.parts = std::min(parts_wanted, std::max(kMaxRowParts, fits(budget_bytes / 8, part_bytes)));
  const double left = budget_bytes - static_cast<double>(room.parts) * part_bytes;
  room.rows = std::clamp<std::int64_t>(fits(left, row_bytes), 1, rows_limit);
  return room;
}

}  // namespace mf::als
