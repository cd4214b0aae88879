// When ratings were given, only for splits by time.
#pragma once

#include <cstdint>
#include <memory>

#include "base/aligned.hpp"
#include "base/view.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

struct RatingTime {
  std::int64_t time;   // as in the file; dates as seconds since 1970
  std::int64_t place;  // among all ratings in the order of their times, from 0; none has another's
};

// One for each rating of a matrix, in its order; or none.
struct RatingTimes {
  View<const RatingTime> all;
  std::shared_ptr<const void> owner;

  RatingTimes() = default;
  explicit RatingTimes(AlignedVector<RatingTime> times);
  RatingTimes(View<const RatingTime> views, std::shared_ptr<const void> of)
      : all(views), owner(std::move(of)) {}
  bool empty() const { return all.empty(); }
};

// Ratings as a file holds them, and when each was given.
struct TimedIds {
  AlignedVector<std::int32_t> users, items;  // as in RawRatings
  AlignedVector<std::int64_t> times;
};

// For the matrix that make_ratings has made of them. Equal times keep the order of the file. A pair
// that occurs more than once has the latest of its times. The same for any number of threads.
RatingTimes times_of(TimedIds raw, const Ratings& ratings, int threads, const std::string& name);

}  // namespace mf
