// A line of a result file: what is known of a case after an epoch. docs/results.md has the keys.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json_fwd.hpp"
#include "harness/spec/metric.hpp"

namespace mf {

// An error that was computed and is not finite is NaN; one that was not computed is absent.
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
  // Of a trial: what stands here for the test part is the validation part, and is written as such.
  bool of_validation = false;
  bool by_program = false;  // its own RMSE, of the part that it was given
  double test_rmse = 0;     // not finite for implicit feedback
  double test_mae = 0;
  std::optional<double> train_rmse;       // where it is asked for
  std::optional<double> validation_rmse;  // where there is a validation part
  std::optional<double> learning_rate;    // nothing at epoch 0
  MetricValues metrics;                   // the others, where they are computed

  // The test RMSE is always there.
  std::optional<double> value(Metric metric) const {
    return metric == Metric::test_rmse ? test_rmse : metrics[metric];
  }

  Json to_json() const;
};

}  // namespace mf
