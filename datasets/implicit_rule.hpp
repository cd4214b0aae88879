// Implicit feedback from ratings: which of them count as observed, and with which value.
#pragma once

#include "datasets/ratings/dataset.hpp"

namespace mf {

// The ratings at or above rule.min_rating. Users and items without one are dropped and the rest
// numbered anew, ids as in the files, so that sizes match the literature. Labels of given parts go
// with their ratings. The same for any number of threads. Throws Error(data) if no rating is left.
//
// info.implicit counts the dropped, info.content_hash is of the result; info.scale is empty if all
// values are 1.
Dataset observed(const Dataset& data, const ImplicitRule& rule, int threads);

}  // namespace mf
