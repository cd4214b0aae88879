// RMSE and MAE of a model over a part of the ratings, accumulated in double in a fixed order: the
// same number for any number of threads. Never on the training clock.
//
// Cold pairs (user or item without a train rating) are predicted by what is known: mean plus the
// bias of the side that is known; the plain model has neither, so they get the mean of the train
// ratings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/core/model.hpp"
#include "base/threads.hpp"
#include "datasets/ratings.hpp"

namespace mf {

struct Accuracy {
  double rmse = 0;
  double mae = 0;
  std::int64_t count = 0;
};

class Evaluator {
 public:
  // Remembers which users and items `train` knows, and its mean rating.
  explicit Evaluator(const Ratings& train);

  // Predictions are clipped to [clip_min, clip_max] where clip_min < clip_max.
  void set_clip(float clip_min, float clip_max);

  Accuracy evaluate(const FactorView& model, const Ratings& part, ThreadTeam& team) const;
  float predict(const FactorView& model, std::int32_t user, std::int32_t item) const;

 private:
  std::vector<std::uint8_t> known_user_;
  std::vector<std::uint8_t> known_item_;
  double train_mean_ = 0;
  float clip_min_ = 0;
  float clip_max_ = 0;
};

}  // namespace mf
