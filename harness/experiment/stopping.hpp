// When a case ends. Every rule that fires is named in the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json/json_fwd.hpp"
#include "harness/experiment/schedule.hpp"
#include "harness/experiment/status.hpp"

namespace mf {

struct StopSpec {
  std::int64_t epochs = 20;
  std::optional<double> train_seconds;  // on the training clock
  std::optional<double> wall_seconds;   // of the case; status `timeout`
  std::optional<double> target_rmse;    // test RMSE at or below
  std::optional<TargetSpec> target;     // of any metric
  int plateau_patience = 0;             // 0: off; evaluations without improvement
  double plateau_min_delta = 0;
  std::optional<Metric> plateau_monitor;  // nothing until the case is known
  // Diverged: not finite, or over this times the larger of the error of epoch 0 and a trivial
  // model's (Reference; of ratings kFarFromMean times it).
  double divergence = 1.05;

  Json to_json() const;
};

const Form<StopSpec>& stop_form();

struct StopInput {
  std::int64_t epoch = 0;
  double train_s = 0;
  double wall_s = 0;
  bool evaluated = false;
  MetricValues metrics = {};
};

struct StopDecision {
  Status status;       // completed, diverged, timeout
  std::string reason;  // a sentence
};

// The error from which on a model of ratings is far off, in units of the mean predictor's error.
// Scales of ratings are about four of these units wide, so predictions within the scale are not as
// far off; models that overfit for want of a regularizer were seen at two.
inline constexpr double kFarFromMean = 5;

// The reference for the error of a model. One that has started further off than the limit may still
// come down from there.
struct Reference {
  double initial = 0;  // of epoch 0
  // For a model that has learned nothing: the RMSE of predicting the mean of the training part on
  // the test part; of implicit feedback the objective of P = Q = 0.
  double trivial = 0;
};

class Stopping {
 public:
  // `error` may diverge: the RMSE of a part, or the objective.
  explicit Stopping(StopSpec spec, Metric error = kTestRmse) : spec_(spec), error_(error) {}
  void start(const Reference& reference) { reference_ = reference; }
  std::optional<StopDecision> check(const StopInput& input);

 private:
  std::optional<StopDecision> check_divergence(const StopInput& input) const;
  std::optional<StopDecision> check_targets(const StopInput& input) const;
  std::optional<StopDecision> check_plateau(const StopInput& input);
  StopSpec spec_;
  Metric error_;
  Reference reference_;
  std::optional<double> best_;
  int waited_ = 0;
};

}  // namespace mf
