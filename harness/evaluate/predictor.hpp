// Predicts single ratings on the host, for the evaluator and for saved models alike.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "algorithms/core/model.hpp"
#include "base/view.hpp"
#include "datasets/ratings/rating_facts.hpp"
#include "harness/evaluate/prediction.hpp"

namespace mf {

// a . b of n numbers, in the order of the evaluator.
float product_of_rows(const float* a, const float* b, std::int64_t n);

class Predictor {
 public:
  Predictor() = default;  // knows no user and no item
  // By the known users and items of the training part, and its mean; shared, not copied.
  explicit Predictor(std::shared_ptr<const RatingFacts> train);
  explicit Predictor(const Ratings& train);  // whose facts it finds itself, on one thread

  void set_clip(const std::optional<ClipRange>& clip) { clip_ = clip; }
  const std::optional<ClipRange>& clip() const { return clip_; }

  // A host view; rows of it, -1 for a user or an item that it does not have.
  float predict(const FactorView& model, std::int64_t user, std::int64_t item) const {
    return predict(rule(model), model, user, item);
  }
  // For many ratings of one model: with its rule at hand.
  float predict(const PredictionRule& how, const FactorView& model, std::int64_t user,
                std::int64_t item) const;
  // For the row of a user, or null for one whom training does not know.
  float predict_row(const PredictionRule& how, const FactorView& model, const float* row,
                    float user_bias, std::int64_t item) const;

  PredictionRule rule(const FactorView& model) const;
  double train_mean() const { return train_mean_; }
  View<const std::uint8_t> known_user() const { return known_user_; }
  View<const std::uint8_t> known_item() const { return known_item_; }

 private:
  std::shared_ptr<const RatingFacts> train_;  // owns the memory of the views
  View<const std::uint8_t> known_user_;
  View<const std::uint8_t> known_item_;
  double train_mean_ = 0;
  std::optional<ClipRange> clip_;
};

}  // namespace mf
