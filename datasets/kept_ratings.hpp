// The ratings of a data set that a rule keeps, as a data set of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "datasets/ratings/dataset.hpp"

namespace mf {

// Writes for each of the ratings [begin, end) whether it is kept: 1, or 0. Called by many threads,
// and twice for each rating.
using Keep = std::function<void(std::int64_t begin, std::int64_t end, std::uint8_t* kept)>;

// The result of reading a file of only the kept ratings: users and items without one are dropped
// and the others numbered anew, ids (and names) as in the files. Labels of given parts and times go
// with their ratings. The same for any number of threads. Empty if no rating is kept.
//
// `value`, if given, replaces the ratings' values. info is copied, without content_hash.
std::optional<Dataset> kept_ratings(const Dataset& data, const Keep& keep,
                                    std::optional<float> value, int threads);

// Counts the difference between the two data sets.
Dropped dropped(const Dataset& from, const Dataset& to);

}  // namespace mf
