// The planted model r = mean + b_u + c_i + p_u.q_i + noise behind the ratings of a look-alike.
#pragma once

#include <array>
#include <cstdint>

#include "base/aligned.hpp"
#include "base/rng.hpp"
#include "datasets/synthetic/synthetic_items.hpp"
#include "datasets/synthetic/synthetic_profile.hpp"

namespace mf::synthetic {

inline constexpr std::size_t kRank = 16;
using Factors = std::array<float, kRank>;

// A user, made from its stream when its ratings are: 50 million of them are never stored.
struct User {
  float offset;  // mean + b_u
  float step;    // 0: not rounded
  Factors factors;
};

class RatingModel {
 public:
  RatingModel(const Profile& profile, const ItemCatalog& catalog, std::uint64_t seed);

  // Draws the user whose place between least and most active is `place`.
  User draw_user(double place, Rng& rng) const;
  // Draws the ratings of `items` by `user`, on the scale.
  void draw_values(const User& user, View<const std::int32_t> items, Rng& rng,
                   View<float> values) const;

  // Draws counts of `items`: e to the power of the model, rounded, from 1 on. `counts` holds what
  // is added to each power.
  void draw_counts(const User& user, View<const std::int32_t> items, Rng& rng,
                   View<float> counts) const;

  // Sum of b_u + c_i over the user's ratings, and what takes their mean out of the model: popular
  // items are the better ones, so the mean rating would drift with the shape.
  double bias_sum(const User& user, View<const std::int32_t> items) const;
  void lower_mean(double by) { model_.mean -= by; }

 private:
  struct alignas(64) ItemFactors {
    Factors factors;
  };
  float expected(const User& user, std::int32_t item) const;
  float on_scale(float value, float step) const;

  PlantedModel model_;
  RatingScale scale_;
  std::array<double, kRank> component_sd_;  // of p_u's components; those of q_i have 1
  AlignedVector<float> item_bias_;
  AlignedVector<ItemFactors> items_;
};

}  // namespace mf::synthetic
