// Implicit feedback from ratings: which of them count as observed, and with what value.
#pragma once

#include "datasets/ratings/dataset.hpp"

namespace mf {

// The ratings at or above rule.min_rating, over the users and items that have one: the others are
// dropped and the rest numbered anew, ids as in the files, so that sizes are those the literature
// gives of such sets. Labels of given parts go with their ratings. The same for any number of
// threads. Throws Error(data) where no rating is left.
//
// info.implicit says what was dropped, info.content_hash is of the result; info.scale is gone where
// all values are 1.
Dataset observed(const Dataset& data, const ImplicitRule& rule, int threads);

}  // namespace mf
