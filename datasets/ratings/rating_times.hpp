// When ratings were given, only for splits by time.
#pragma once

#include <cstdint>
#include <string>

#include "base/aligned.hpp"
#include "datasets/ratings/ratings.hpp"
#include "datasets/ratings/shared_column.hpp"

namespace mf {

struct RatingTime {
  std::int64_t time;   // as in the file; dates as seconds since 1970
  std::int64_t place;  // among all ratings in the order of their times, from 0; none has another's
};

using RatingTimes = SharedColumn<RatingTime>;

// Ratings as a file holds them, and when each was given.
struct TimedIds {
  AlignedVector<std::int32_t> users, items;  // as in RawRatings
  AlignedVector<std::int64_t> times;
};

// For the matrix that make_ratings has made of them. Equal times keep the order of the file. A pair
// that occurs more than once has the latest of its times. The same for any number of threads.
RatingTimes times_of(TimedIds raw, const Ratings& ratings, int threads, const std::string& name);

}  // namespace mf
