// Rows of one side of R cut among ranks: consecutive rows, of about the same work each.
#pragma once

#include <cstdint>
#include <vector>

#include "base/view.hpp"

namespace mf {

// Rank k has the rows [cuts[k], cuts[k + 1]): none, where there are fewer rows with ratings than
// ranks.
using RowCuts = std::vector<std::int64_t>;

struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};
inline RowRange rows_of(const RowCuts& cuts, int rank) { return {cuts[rank], cuts[rank + 1]}; }

// `offsets` are those of all rows (rows + 1). A row of n > 0 ratings costs n + row_cost, one
// without none. No part costs more than its share and the longest row.
RowCuts cut_rows(View<const std::int64_t> offsets, double row_cost, int ranks);

}  // namespace mf
