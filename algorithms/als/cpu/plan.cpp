#include "algorithms/als/cpu/plan.hpp"

#include <algorithm>

namespace mf::als::cpu {
namespace {

// Cost of a thread's turn, in ratings; the solver counts a rating a factor for each row.
constexpr std::int64_t kChunkCost = 8192;
// A row is shared if it is over this share of one thread's work.
constexpr std::int64_t kShares = 4;

std::vector<std::int32_t> longest_first(const Side& side) {
  std::vector<std::int32_t> rows;
  const auto length = [&](std::int32_t row) { return side.length(row); };
  for (std::int32_t row = 0; row < side.rows(); ++row) {
    if (length(row) > 0) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::int32_t a, std::int32_t b) { return length(a) > length(b); });
  return rows;
}

}  // namespace

RowPlan make_row_plan(const Side& side, std::int32_t factors, int threads) {
  RowPlan plan;
  plan.rows = longest_first(side);
  const std::int64_t count = std::ssize(plan.rows);
  const auto length = [&](std::int64_t position) { return side.length(plan.rows[position]); };
  const std::int64_t bound = std::max(kPartRatings, side.nnz() / (kShares * threads));
  plan.waves.push_back(0);
  std::int64_t parts = 0;
  for (; threads > 1 && plan.shared < count && length(plan.shared) > bound; ++plan.shared) {
    const std::int64_t own = part_count(length(plan.shared));
    if (parts > 0 && parts + own > kMaxParts) {
      plan.waves.push_back(plan.shared);
      parts = 0;
    }
    parts += own;
  }
  if (plan.shared > 0) plan.waves.push_back(plan.shared);
  plan.cuts.push_back(plan.shared);
  std::int64_t cost = 0;
  for (std::int64_t position = plan.shared; position < count; ++position) {
    cost += length(position) + factors;
    if (cost >= kChunkCost || position + 1 == count) {
      plan.cuts.push_back(position + 1);
      cost = 0;
    }
  }
  return plan;
}

WaveParts cut_wave(const Side& side, const RowPlan& plan, std::int64_t first, std::int64_t last) {
  WaveParts wave;
  wave.of_row.push_back(0);
  for (std::int64_t position = first; position < last; ++position) {
    const std::int64_t begin = side.offsets[plan.rows[position]];
    const std::int64_t length = side.length(plan.rows[position]);
    const std::int64_t count = part_count(length);
    for (std::int64_t p = 0; p < count; ++p) {
      wave.parts.push_back({position - first, begin + part_begin(length, count, p),
                            begin + part_begin(length, count, p + 1)});
    }
    wave.of_row.push_back(std::ssize(wave.parts));
  }
  return wave;
}

}  // namespace mf::als::cpu
