// Internal: from ratings in a file's order to rows, sorted by (user, item).
#pragma once

#include <cstdint>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/id_index.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

struct SortedRows {
  AlignedVector<std::int64_t> user_offsets;  // m + 1
  bool duplicates = false;                   // any pair occurs more than once
};

// Replaces ids by their dense indices and sorts, in place: `users` and `items` are the indices of
// all ids of `raw`. Equal pairs stay in the order of the file. Needs 8 bytes a rating more (12
// where the index of a user within some hundred neighbours and that of an item take more than 32
// bits). A stable order is unique, so the result does not depend on the number of threads.
SortedRows sort_ratings(RawRatings& raw, const IdIndex& users, const IdIndex& items,
                        ThreadTeam& team);

}  // namespace mf
