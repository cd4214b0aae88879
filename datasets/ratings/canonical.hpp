// Is a matrix of ratings what Ratings promises? For arrays that come from outside (a cache file):
// everything after this relies on it, down to indices that are not checked again.
#pragma once

#include <string>

#include "datasets/ratings/ratings.hpp"

namespace mf {

// Offsets from 0 to nnz that never fall, users that are those of their rows, items of a row
// ascending and within n, finite values, ids ascending; where they are text, ids
// that are rows of names, which ascend. Throws Error(data) that begins with `name`
// and says what was found where. One pass over the arrays.
void check_canonical(const Ratings& ratings, int threads, const std::string& name);

}  // namespace mf
