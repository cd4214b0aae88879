// The k-core of ratings: only users and items with enough ratings, counted within it.
#pragma once

#include "datasets/ratings/dataset.hpp"

namespace mf {

// The largest part of the ratings in which every user has rule.users or more and every item
// rule.items or more. It is unique: any order of dropping rows and columns with too few ends in it.
// A round drops the users that have too few, then the items.
//
// The remaining users and items are numbered anew, ids as in the files; labels of given parts go
// with their ratings. The same for any number of threads. Throws Error(data) if nothing is left.
// info.core counts the dropped, info.content_hash is of the result.
Dataset core_of(const Dataset& data, const CoreRule& rule, int threads);

}  // namespace mf
