// The evaluator's work on factors in device memory: the factors stay in place, the parts are
// uploaded once. In a build without CUDA its constructor throws Error(unsupported).
#pragma once

#include <cstdint>
#include <memory>

#include "algorithms/core/device_stream.hpp"
#include "algorithms/core/model.hpp"
#include "base/aligned.hpp"
#include "base/view.hpp"
#include "datasets/ratings/ratings.hpp"
#include "harness/evaluate/prediction.hpp"

namespace mf {

enum class LossMethod {
  fused,            // ours: a warp per chunk of ratings, errors never leave the chip
  thread_per_user,  // cu2rec's paper: a thread per user writes errors, then a reduction
};

class DeviceEvaluator {
 public:
  // One byte per user and item: does the training part know it?
  DeviceEvaluator(View<const std::uint8_t> known_user, View<const std::uint8_t> known_item,
                  DeviceStream stream);
  ~DeviceEvaluator();
  DeviceEvaluator(const DeviceEvaluator&) = delete;
  DeviceEvaluator& operator=(const DeviceEvaluator&) = delete;

  // Waits for the stream. The part is kept on the device, recognised by the address of its values
  // and their number: it must live, unchanged, as long as the evaluator.
  Accuracy evaluate(const FactorView& model, const PredictionRule& rule, const Ratings& part,
                    DeviceStream stream, LossMethod method = LossMethod::fused);

  // For the predictions of a part for the draws that evaluate() has taken (evaluator.hpp); empty if
  // there were none. Waits for the stream.
  AlignedVector<float> mean_of_draws(const Ratings& part, DeviceStream stream) const;

  // The two halves of evaluate, for benchmarks: launch queues only the kernels once the part is
  // there; sums waits for the last launch. The part must not be empty.
  void launch(const FactorView& model, const PredictionRule& rule, const Ratings& part,
              DeviceStream stream, LossMethod method);
  LossSums sums(DeviceStream stream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mf
