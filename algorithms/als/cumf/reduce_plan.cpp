#include "algorithms/als/cumf/reduce_plan.hpp"

#include <algorithm>

#include "algorithms/als/cumf/matrix.hpp"

namespace mf::als {
namespace {

std::int64_t length(View<const std::int64_t> offsets, std::int64_t row) {
  return offsets[row + 1] - offsets[row];
}

// Parts that take room: only the parts of a cut row do.
std::int64_t kept_parts(View<const std::int64_t> offsets, std::int64_t row, std::int64_t split) {
  const std::int64_t parts = parts_of(length(offsets, row), split, kMaxRowParts);
  return parts > 1 ? parts : 0;
}

using RowLists = std::vector<std::vector<std::int32_t>>;  // [rank]

RowLists rated_rows(View<const std::int64_t> offsets, const RowShards& shards) {
  RowLists lists(shards.ranks());
  for (int rank = 0; rank < shards.ranks(); ++rank) {
    const RowRange own = shards.own(rank);
    for (std::int64_t row = own.begin; row < own.end; ++row) {
      if (length(offsets, row) > 0) lists[rank].push_back(static_cast<std::int32_t>(row));
    }
  }
  return lists;
}

ReducePlan cut(const RowLists& lists, std::int64_t batches) {
  ReducePlan plan;
  plan.ranks = static_cast<int>(lists.size());
  plan.begins = {0};
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (const auto& rows : lists) {
      const Range run = part_range(std::ssize(rows), batches, batch);
      plan.rows.insert(plan.rows.end(), rows.begin() + run.begin, rows.begin() + run.end);
      plan.begins.push_back(std::ssize(plan.rows));
    }
  }
  return plan;
}

bool has_room(const ReducePlan& plan, View<const std::int64_t> offsets, const ReduceRule& rule) {
  for (std::int64_t batch = 0; batch < plan.batches(); ++batch) {
    const Range range = plan.of_batch(batch);
    std::int64_t parts = 0;
    for (std::int64_t at = range.begin; at < range.end; ++at) {
      parts += kept_parts(offsets, plan.rows[at], rule.split_rows);
    }
    if (parts > rule.batch_parts) return false;
  }
  return true;
}

}  // namespace

std::vector<std::int64_t> ReducePlan::batch_begins() const {
  std::vector<std::int64_t> found;
  for (std::int64_t batch = 0; batch <= batches(); ++batch) found.push_back(begins[batch * ranks]);
  return found;
}

std::int64_t ReducePlan::most_rows() const {
  std::int64_t most = 0;
  for (std::int64_t b = 0; b < batches(); ++b) most = std::max(most, of_batch(b).size());
  return most;
}

std::int64_t ReducePlan::most_rows_of(int rank) const {
  std::int64_t most = 0;
  for (std::int64_t b = 0; b < batches(); ++b) most = std::max(most, of_rank(b, rank).size());
  return most;
}

ReducePlan plan_reduce(View<const std::int64_t> offsets, const RowShards& shards,
                       const ReduceRule& rule) {
  const RowLists lists = rated_rows(offsets, shards);
  std::int64_t longest = 0;
  for (const auto& rows : lists) longest = std::max<std::int64_t>(longest, std::ssize(rows));
  if (longest == 0) return cut(lists, 0);
  const std::int64_t of_rank = std::max<std::int64_t>(1, rule.batch_rows / shards.ranks());
  std::int64_t batches = (longest + of_rank - 1) / of_rank;
  ReducePlan plan = cut(lists, batches);
  while (batches < longest && !has_room(plan, offsets, rule)) {
    batches = std::min(2 * batches, longest);
    plan = cut(lists, batches);
  }
  return plan;
}

std::int64_t parts_of_all(View<const std::int64_t> offsets, std::int64_t split_rows) {
  std::int64_t sum = 0;
  for (std::int64_t row = 0; row + 1 < offsets.size(); ++row) {
    sum += kept_parts(offsets, row, split_rows);
  }
  return sum;
}

double reduced_system_bytes(std::int32_t factors) {
  return static_cast<double>(a_bytes(AStorage::fp32, factors) +
                             4 * row_stride(factors, sizeof(float)));
}

Capacity reduce_capacity(std::int64_t rows_wanted, std::int64_t parts_wanted, std::int64_t asked,
                         int ranks, std::int32_t factors, double a_bytes, double budget_bytes) {
  const double vector = 4.0 * static_cast<double>(row_stride(factors, sizeof(float)));
  const double part = reduced_system_bytes(factors) - vector;
  // As formed and as received; of the own ones the sum; and parts of b.
  const double row = 2 * (part + vector) + system_bytes(a_bytes, vector) / ranks + vector;
  Capacity room = choose_capacity(rows_wanted, parts_wanted, asked, row, part, budget_bytes);
  room.parts = std::min(parts_wanted, std::max(room.parts, ranks * kMaxRowParts));
  return room;
}

}  // namespace mf::als
