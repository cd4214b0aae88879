// A line of a result file: what is known of a case after an epoch. docs/results.md has the keys.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json/json_fwd.hpp"
#include "harness/evaluate/prediction.hpp"
#include "harness/spec/metric.hpp"

namespace mf {

struct TracePoint {
  std::int64_t epoch = 0;
  std::int64_t updates = 0;
  double passes = 0;
  double train_s = 0;
  std::optional<double> train_device_s;  // nothing on the CPU
  std::optional<double> train_energy_j;  // nothing on the CPU and without NVML
  double epoch_s = 0;                    // mean of the last group of epochs
  double evaluate_s = 0;
  double wall_s = 0;
  bool by_program = false;              // its own RMSE, of the part that it was given
  std::optional<double> learning_rate;  // nothing at epoch 0
  MetricValues metrics;

  // Those of a part without ratings are absent.
  void set_errors(MetricPart part, const Accuracy& errors);

  Json to_json() const;
};

}  // namespace mf
