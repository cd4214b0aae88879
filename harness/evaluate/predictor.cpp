#include "harness/evaluate/predictor.hpp"

#include <utility>

#include "base/clones.hpp"

namespace mf {
namespace {

constexpr std::int64_t kLanes = 16;

MF_CLONES float dot(const float* a, const float* b, std::int64_t n) {
  float lanes[kLanes] = {};
  std::int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] += a[k + l] * b[k + l];
  }
  float sum = 0;
  for (; k < n; ++k) sum += a[k] * b[k];
  for (const float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

float product_of_rows(const float* a, const float* b, std::int64_t n) { return dot(a, b, n); }

Predictor::Predictor(std::shared_ptr<const RatingFacts> train)
    : train_(std::move(train)),
      known_user_(train_->known_user),
      known_item_(train_->known_item),
      train_mean_(train_->mean) {}

Predictor::Predictor(const Ratings& train)
    : Predictor(std::make_shared<const RatingFacts>(facts_of(train, 1))) {}

PredictionRule Predictor::rule(const FactorView& model) const {
  PredictionRule rule;
  rule.biased = model.item_bias != nullptr;  // a view of only items has no user's
  rule.mean = static_cast<float>(model.mean);
  rule.train_mean = static_cast<float>(train_mean_);
  if (clip_) {
    rule.clip_min = clip_->min;
    rule.clip_max = clip_->max;
  }
  return rule;
}

float Predictor::predict_row(const PredictionRule& how, const FactorView& model, const float* row,
                             float user_bias, std::int64_t item) const {
  RatingSides sides;
  sides.user_known = row != nullptr;
  sides.user_bias = user_bias;
  sides.item_known = item >= 0 && known_item_[item] != 0;
  if (how.biased && sides.item_known) {
    sides.item_bias = model.item_bias[item * model.item_bias_stride];
  }
  const bool known = sides.user_known && sides.item_known;
  const float product = known ? dot(row, model.q + item * model.q_stride, model.factors) : 0.0F;
  return predict_rating(how, sides, product);
}

float Predictor::predict(const PredictionRule& how, const FactorView& model, std::int64_t user,
                         std::int64_t item) const {
  const bool known = user >= 0 && known_user_[user] != 0;
  const float* row = known ? model.p + user * model.p_stride : nullptr;
  const float bias = how.biased && known ? model.user_bias[user * model.user_bias_stride] : 0.0F;
  return predict_row(how, model, row, bias, item);
}

}  // namespace mf
