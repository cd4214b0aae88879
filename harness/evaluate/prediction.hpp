// The prediction of a rating and its error: one definition for the evaluators of host and device.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace mf {

// RMSE and MAE over `count` ratings; NaN if count is 0.
struct Accuracy {
  double rmse = 0;
  double mae = 0;
  std::int64_t count = 0;
};

// The range that predictions are clipped to: the rating scale. min < max.
struct ClipRange {
  float min = 0;
  float max = 0;
};

// For one case and one model.
struct PredictionRule {
  bool biased = false;
  float mean = 0;        // mu of a biased model
  float train_mean = 0;  // a plain model's prediction of a cold pair
  float clip_min = 0;    // predictions are clipped if clip_min < clip_max
  float clip_max = 0;
};

// The known facts of the two sides of a rating. Biases count only in a biased model.
struct RatingSides {
  bool user_known = false;
  bool item_known = false;
  float user_bias = 0;
  float item_bias = 0;
};

// Comparisons, not min and max: NaN stays NaN.
MF_HD float clip_rating(const PredictionRule& rule, float value) {
  if (rule.clip_min < rule.clip_max) {
    value = value < rule.clip_min ? rule.clip_min : value;
    value = rule.clip_max < value ? rule.clip_max : value;
  }
  return value;
}

// Before it is clipped. `dot` is the product of the factors; it and the bias of a cold side may be
// anything, also NaN.
MF_HD float score_rating(const PredictionRule& rule, const RatingSides& sides, float dot) {
  float value = rule.biased ? rule.mean : 0.0F;
  if (rule.biased && sides.user_known) value += sides.user_bias;
  if (rule.biased && sides.item_known) value += sides.item_bias;
  if (sides.user_known && sides.item_known) {
    value += dot;
  } else if (!rule.biased) {
    value = rule.train_mean;
  }
  return value;
}

MF_HD float predict_rating(const PredictionRule& rule, const RatingSides& sides, float dot) {
  return clip_rating(rule, score_rating(rule, sides, dot));
}

// Takes the prediction of one more draw into the mean of those before; `share` is one over their
// number with it, or 0 for none. The mean is clipped, its terms are not.
MF_HD float add_draw(float mean, float share, float score) { return mean + share * (score - mean); }

MF_HD double rating_error(const PredictionRule& rule, const RatingSides& sides, float rating,
                          float dot) {
  return static_cast<double>(rating) - static_cast<double>(predict_rating(rule, sides, dot));
}

// Sums of e^2 and |e|.
struct LossSums {
  double square = 0;
  double absolute = 0;
};

MF_HD void add_error(LossSums& sums, double error) {
  sums.square += error * error;
  sums.absolute += error < 0 ? -error : error;
}

MF_HD void add_sums(LossSums& to, const LossSums& from) {
  to.square += from.square;
  to.absolute += from.absolute;
}

inline Accuracy accuracy_of(const LossSums& sums, std::int64_t count) {
  const auto n = static_cast<double>(count);  // 0 / 0 is the NaN of no ratings
  return {std::sqrt(sums.square / n), sums.absolute / n, count};
}

}  // namespace mf
