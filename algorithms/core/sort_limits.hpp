// How many ratings are sorted on a device.
#pragma once

#include <cstdint>

namespace mf {

// Ratings that are sorted into columns at a time.
inline constexpr std::int64_t kSortAtOnce = std::int64_t{1} << 28;

// Ratings that cuda/ratings/sort_ratings.cuh can put in order.
inline constexpr std::int64_t kMostSorted = (std::int64_t{1} << 32) - 1;

}  // namespace mf
