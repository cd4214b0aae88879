// What a rank keeps of R: the rows of its users and the columns of its items. Both have the offsets
// of all rows of R, and no ratings in those of the other ranks; so rows keep their numbers.
#pragma once

#include <cstdint>

#include "algorithms/als/side.hpp"
#include "algorithms/core/row_cuts.hpp"
#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::als {

// The rows of X and of Theta that a rank solves.
struct Share {
  RowRange users, items;
};

// As Side has them.
struct OwnedSide {
  AlignedVector<std::int64_t> offsets;
  AlignedVector<std::int32_t> others;
  AlignedVector<float> values;

  Side view() const { return {offsets, others, values}; }
};

OwnedSide copy_rows(const Ratings& train, RowRange users, ThreadTeam& team);
// Users ascending in each, as make_csc() has them.
OwnedSide copy_columns(const Ratings& train, RowRange items, ThreadTeam& team);

// Where the columns of all items begin.
AlignedVector<std::int64_t> column_offsets(const Ratings& train, ThreadTeam& team);

}  // namespace mf::als
