// Internal: from ratings in a file's order to rows, sorted by (user, item).
#pragma once

#include <cstdint>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/rating_parts.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

struct SortedRows {
  AlignedVector<std::int64_t> user_offsets;  // m + 1
  bool duplicates = false;                   // any pair occurs more than once
};

// Writes all ratings of `parts` with the dense indices of their ids to `out`, which has room for
// as many, and gives the memory of `parts` back. finish_ids was called, `user_ids` are
// parts.users().ids(). Equal pairs stay in the order of the file. A stable order is unique, so the
// result depends on neither the parts nor the number of threads.
SortedRows sort_ratings(RatingParts& parts, View<const std::int32_t> user_ids, RawRatings& out,
                        ThreadTeam& team);

}  // namespace mf
