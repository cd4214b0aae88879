// RMSE and MAE of a model over a part of the ratings, accumulated in double in a fixed order: the
// same number for any number of threads. Never on the training clock. Factors in device memory are
// evaluated there.
//
// A sampler (AlgorithmInfo::samples) is judged by the mean of the predictions of its draws after
// burn-in: evaluate() takes a draw into the running mean of the part's predictions, once, and the
// errors are the mean's, clipped as any prediction. It needs only the pairs of a part, which stay
// here: the sampler does not see them.
//
// Cold pairs (user or item without a train rating) are predicted by the mean plus the bias of the
// known side; the plain model has neither, so they get the mean of the train ratings.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "algorithms/core/device_stream.hpp"
#include "algorithms/core/model.hpp"
#include "base/aligned.hpp"
#include "base/ranks/communicator.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"
#include "harness/evaluate/device/device_evaluator.hpp"
#include "harness/evaluate/prediction.hpp"
#include "harness/evaluate/predictor.hpp"

namespace mf {

// Ratings whose errors are summed up together, in order; fixed, so that the rounding depends
// neither on the threads nor on the ranks.
inline constexpr std::int64_t kErrorBlock = 1 << 14;

// A part of the ratings that the ranks of a case evaluate together: each its blocks.
struct SharedPart {
  const Ratings& own;        // of the blocks of this rank
  const PartOffsets& parts;  // starts of each rank's ratings before they were made whole blocks
  Communicator& ranks;
};

class Evaluator {
 public:
  // By which users and items the training part knows, and its mean rating.
  explicit Evaluator(std::shared_ptr<const RatingFacts> train) : predictor_(std::move(train)) {}
  explicit Evaluator(const Ratings& train) : predictor_(train) {}  // found on one thread

  // Predictions are clipped to this range; empty: no clipping.
  void set_clip(const std::optional<ClipRange>& clip) { predictor_.set_clip(clip); }
  const Predictor& predictor() const { return predictor_; }  // on the host

  // The stream on which factors in device memory are evaluated: the algorithm's, so that an epoch
  // still running is waited for. Null is the default stream.
  void set_stream(DeviceStream stream) { stream_ = stream; }

  // A device view: the part is uploaded by its first evaluation and must live, unchanged, as long
  // as the evaluator; `team` is not used. The same holds for the part of a draw.
  Accuracy evaluate(const FactorView& model, const Ratings& part, ThreadTeam& team) const;

  // The same number, on all ranks. Host views only.
  Accuracy evaluate(const FactorView& model, const SharedPart& part, ThreadTeam& team) const;
  Accuracy evaluate_mean(const SharedPart& part, ThreadTeam& team) const;

  // Over the ratings [begin, end) of the part. Host views only. If draws were taken, also in device
  // memory, it evaluates their mean instead of the model.
  Accuracy evaluate_range(const FactorView& model, const Ratings& part, std::int64_t begin,
                          std::int64_t end, ThreadTeam& team) const;

  // For predicting the mean of the training part for every rating. On the host.
  Accuracy evaluate_mean(const Ratings& part, ThreadTeam& team) const;

  // Host views only.
  float predict(const FactorView& model, std::int32_t user, std::int32_t item) const {
    return predictor_.predict(model, user, item);
  }

  PredictionRule rule(const FactorView& model) const { return predictor_.rule(model); }

 private:
  // For the predictions of a part, recognised by the address of its values.
  struct DrawMean {
    const float* part = nullptr;
    std::int64_t taken = 0;
    std::int64_t last = 0;  // the draw that was taken last
    AlignedVector<float> mean;
  };
  void take_draw(const FactorView& model, const Ratings& part, ThreadTeam& team) const;
  DrawMean* find_mean(const Ratings& part) const;

  Predictor predictor_;
  DeviceStream stream_ = nullptr;
  mutable std::list<DrawMean> means_;
  mutable std::unique_ptr<DeviceEvaluator> device_;  // made by the first device view
};

}  // namespace mf
