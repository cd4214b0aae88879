// How a user of a real set rates: which values what they like, and what they like less, was given.
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

  // What a copy of the user thinks of each item that the user rated: a person who may have given
  // the same ratings, with other factors.
  void draw_likings(Rng& rng, std::vector<double>& likings) const;

  // The value of one of the ratings whose liking is next to this one: on the scale, with the noise
  // that this user has where they rate so.
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
