// How a user of a real set rates: the values that they give at each level of liking.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "datasets/expand/taste_sample.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::expand {

class UserHabits {
 public:
  UserHabits(const Ratings& base, const TasteSample& tastes, std::int64_t user);

  // How a copy of the user likes each item that the user rated: a person who may have given the
  // same ratings, with other factors.
  void draw_likings(Rng& rng, std::vector<double>& likings) const;

  // The value of one of the ratings whose liking is next to this one: on the scale, with this
  // user's noise at that level.
  float draw_value(double liking, Rng& rng) const;

 private:
  const TasteSample& tastes_;
  View<const std::int32_t> rated_;
  RowPosterior posterior_;
  std::vector<std::pair<double, float>> given_;  // liking and value, from the least liked on
  double offset_ = 0, slope_ = 1;                // of values over likings
  std::int64_t window_;
};

}  // namespace mf::expand
