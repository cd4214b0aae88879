// The k-core of ratings: only users and items with enough ratings, counted within it.
#pragma once

#include "datasets/ratings/dataset.hpp"

namespace mf {

// The largest part of the ratings in which every user has rule.users or more and every item
// rule.items or more. It is unique: dropping what has too few, again and again until nothing has,
// ends in it whatever the order. A round drops the users that have too few, then the items.
//
// Users and items that are dropped are gone and the rest numbered anew, ids as in the files; labels
// of given parts go with their ratings. The same for any number of threads. Throws Error(data)
// where nothing is left. info.core says what was dropped, info.content_hash is of the result.
Dataset core_of(const Dataset& data, const CoreRule& rule, int threads);

}  // namespace mf
