// The planted model behind the ratings of a look-alike, and its users' tastes (PlantedModel).
#pragma once

#include <array>
#include <cstdint>

#include "base/aligned.hpp"
#include "base/rng.hpp"
#include "datasets/synthetic/synthetic_items.hpp"
#include "datasets/synthetic/synthetic_profile.hpp"

namespace mf::synthetic {

inline constexpr std::size_t kRank = 64;
using Factors = std::array<float, kRank>;

// A user, made from its stream when its ratings are: 50 million of them are never stored.
struct User {
  float offset;  // mean + b_u
  float step;    // 0: not rounded
  float gain;
  float noise_sd;
  Factors factors;  // sigma_k p_uk
};

class RatingModel {
 public:
  RatingModel(const Profile& profile, const ItemCatalog& catalog, std::uint64_t seed);

  // Draws the user whose place between least and most active is `place`.
  User draw_user(double place, Rng& rng) const;
  // Whether the user takes an item met by chance is drawn with this probability; 1 for everyone and
  // every item if the model has no selection.
  double chance(const User& user, std::int32_t item) const;
  bool selects() const { return model_.selection > 0; }

  // Draws the ratings of `items` by `user`, on the scale.
  void draw_values(const User& user, View<const std::int32_t> items, Rng& rng,
                   View<float> values) const;

  // Draws counts of `items`: e to the power of the model, rounded, from 1 on. `counts` holds an
  // addend of each power.
  void draw_counts(const User& user, View<const std::int32_t> items, Rng& rng,
                   View<float> counts) const;

  // Sum of the model's deviations from the mean over the user's ratings, and the correction that
  // removes their mean, which would drift with the shape as popular and chosen items are better.
  double deviation_sum(const User& user, View<const std::int32_t> items) const;
  void lower_mean(double by) { model_.mean -= by; }

 private:
  struct alignas(64) ItemFactors {
    Factors factors;
  };
  float signal(const User& user, std::int32_t item) const;  // s_ui
  float expected(const User& user, std::int32_t item) const;
  float on_scale(float value, float step) const;

  PlantedModel model_;
  RatingScale scale_;
  std::array<double, kRank> component_sd_;  // of p_u's components; q_i's have 1
  AlignedVector<float> item_bias_;
  AlignedVector<ItemFactors> items_;
};

}  // namespace mf::synthetic
