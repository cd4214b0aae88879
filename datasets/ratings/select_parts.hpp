// Cuts ratings into parts by a label each, all parts in one pass over them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

struct SelectedPart {
  Ratings ratings;                         // over the users, items and ids of all
  AlignedVector<std::uint8_t> item_rated;  // n flags: 1 for the items with a rating in this part
};

// What becomes of the ratings that are cut.
enum class Originals {
  kept,
  // The caller has the only copy and drops it: its memory goes back to the system while the parts
  // grow, so that the peak is little above one copy. Users, items and values of `all` are undefined
  // afterwards; offsets and ids stay.
  consumed,
};

// Part k, which has these ids, has the ratings labelled wanted[k]; other labels are in no part.
// There is a label for each rating. The result does not depend on `threads`.
std::vector<SelectedPart> select_parts(const Ratings& all, const SharedIds& ids,
                                       View<const std::uint8_t> labels,
                                       View<const std::uint8_t> wanted, int threads,
                                       Originals originals = Originals::kept);

// Over these users and items.
Ratings no_ratings_of(const SharedIds& ids);

}  // namespace mf
