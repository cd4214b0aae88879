#include "algorithms/core/row_cuts.hpp"

#include <iterator>
#include <utility>

namespace mf {

RowCuts cut_rows(View<const std::int64_t> offsets, const RowCost& cost_of, int parts) {
  const std::int64_t rows = offsets.size() - 1;
  const auto cost = [&](std::int64_t row) { return cost_of(offsets[row + 1] - offsets[row]); };
  double all = 0;
  for (std::int64_t row = 0; row < rows; ++row) all += cost(row);
  // A row goes to the part in whose share its middle lies.
  RowCuts cuts = {0};
  double before = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const double own = cost(row);
    const double middle = before + own / 2;
    while (std::ssize(cuts) < parts &&
           middle >= all * static_cast<double>(std::ssize(cuts)) / parts && all > 0) {
      cuts.push_back(row);
    }
    before += own;
  }
  while (std::ssize(cuts) < parts + 1) cuts.push_back(rows);
  return cuts;
}

RowCost ratings_and(double row_cost) {
  return [row_cost](std::int64_t count) {
    return count > 0 ? static_cast<double>(count) + row_cost : 0.0;
  };
}

RowCuts cut_rows(View<const std::int64_t> offsets, double row_cost, int ranks) {
  return cut_rows(offsets, ratings_and(row_cost), ranks);
}

RowShards one_shard(std::int64_t rows) { return {{{0, rows}}}; }

RowShards shard_rows(View<const std::int64_t> offsets, const RowCost& cost, int ranks, int parts) {
  RowShards shards;
  const RowCuts cuts = cut_rows(offsets, cost, ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const RowRange own = rows_of(cuts, rank);
    RowCuts inner = cut_rows(offsets.part(own.begin, own.end + 1), cost, parts);
    for (std::int64_t& cut : inner) cut += own.begin;
    shards.parts.push_back(std::move(inner));
  }
  return shards;
}

}  // namespace mf
