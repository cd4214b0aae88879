// Properties of ratings, whichever file they came from.
#pragma once

#include <optional>

#include "datasets/ratings/dataset.hpp"

namespace mf::fuzz {

// Three arrays of one length: ids from 0 on, or rows of names; finite values.
void check_raw(const RawRatings& raw);

// The canonical form, checked, with the mean of duplicate pairs. Empty if an id is so large that
// the index itself takes seconds under a sanitizer.
std::optional<Ratings> make_canonical(const RawRatings& raw);

bool same_names(const IdNames& one, const IdNames& other);

void check_ratings(const Ratings& ratings);

}  // namespace mf::fuzz
