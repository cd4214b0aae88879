// Rows of one side of R cut among ranks: consecutive rows, of about the same work each.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/ranks/communicator.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf {

// Rank k has the rows [cuts[k], cuts[k + 1]): none if there are fewer rows with ratings than ranks.
using RowCuts = std::vector<std::int64_t>;

struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};
inline RowRange rows_of(const RowCuts& cuts, int rank) { return {cuts[rank], cuts[rank + 1]}; }

// The work of a row with this many ratings, in any unit.
using RowCost = std::function<double(std::int64_t)>;

// Each part's share of all work: above or equal to 0, 1 together.
using PartShares = std::vector<double>;
PartShares even_shares(int parts);

// A row of n > 0 ratings costs n + row_cost, one without none.
RowCost ratings_and(double row_cost);
// `offsets` cover all rows (rows + 1). No part costs more than its share and the longest row.
RowCuts cut_rows(View<const std::int64_t> offsets, double row_cost, int ranks);

// Rows over ranks if each rank solves its own in parts, and all exchange one part after another.
struct RowShards {
  std::vector<RowCuts> parts;  // [rank]: starts of its parts, and the end of the last

  int ranks() const { return static_cast<int>(parts.size()); }
  int parts_of_rank() const { return static_cast<int>(parts.front().size()) - 1; }
  RowRange own(int rank) const { return {parts[rank].front(), parts[rank].back()}; }
  RowRange part(int rank, int number) const { return rows_of(parts[rank], number); }
};

// All rows in the one part of one rank.
RowShards one_shard(std::int64_t rows);

// Both cuts by the cost, even ones among ranks: the same for any threads, or none.
RowShards shard_rows(View<const std::int64_t> offsets, const RowCost& cost, int ranks,
                     const PartShares& parts, ThreadTeam* team = nullptr);
inline RowShards shard_rows(View<const std::int64_t> offsets, const RowCost& cost, int ranks,
                            int parts, ThreadTeam* team = nullptr) {
  return shard_rows(offsets, cost, ranks, even_shares(parts), team);
}

// The same by all ranks together, each of which reads its share of many rows. The parts may follow
// from the work of all rows.
using PartRule = std::function<PartShares(double work)>;
RowShards shard_rows(View<const std::int64_t> offsets, const RowCost& cost, Communicator& ranks,
                     const PartRule& parts, ThreadTeam& team);
inline RowShards shard_rows(View<const std::int64_t> offsets, const RowCost& cost,
                            Communicator& ranks, int parts, ThreadTeam& team) {
  return shard_rows(
      offsets, cost, ranks, [&](double) { return even_shares(parts); }, team);
}

}  // namespace mf
