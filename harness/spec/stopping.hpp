// When a case ends. Every rule that fires is named in the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_fwd.hpp"
#include "harness/spec/schedule.hpp"
#include "harness/spec/status.hpp"

namespace mf {

struct StopSpec {
  std::int64_t epochs = 20;
  std::optional<double> train_seconds;  // on the training clock
  std::optional<double> wall_seconds;   // of the case; status `timeout`
  std::optional<double> target_rmse;    // test RMSE at or below
  std::optional<TargetSpec> target;     // of any metric
  int plateau_patience = 0;             // 0: off; evaluations without improvement
  double plateau_min_delta = 0;
  Monitor plateau_monitor = Monitor::test;
  // Diverged: not finite, or test RMSE over this times that of epoch 0, of implicit feedback the
  // objective. A little above 1, because
  // zero-mean initial factors are near a saddle point, and leaving it may first cost a little.
  double divergence = 1.05;

  Json to_json() const;
};

const Form<TargetSpec>& target_form();
Json to_json(const TargetSpec& target);

const Form<StopSpec>& stop_form();
StopSpec parse_stop(const Json& json, const std::string& path);

struct StopInput {
  std::int64_t epoch = 0;
  double train_s = 0;
  double wall_s = 0;
  bool evaluated = false;
  double error = 0;      // what must not diverge: the test RMSE, or the objective
  double monitored = 0;  // of the plateau; less is better
  MetricValues metrics = {};
};

struct StopDecision {
  Status status;       // completed, diverged, timeout
  std::string reason;  // a sentence
};

class Stopping {
 public:
  // `error` is what may diverge: the test RMSE, or the objective.
  explicit Stopping(StopSpec spec, Metric error = Metric::test_rmse) : spec_(spec), error_(error) {}
  void start(double initial_error) { start_error_ = initial_error; }
  std::optional<StopDecision> check(const StopInput& input);

 private:
  std::optional<StopDecision> check_divergence(const StopInput& input) const;
  std::optional<StopDecision> check_targets(const StopInput& input) const;
  std::optional<StopDecision> check_plateau(const StopInput& input);
  StopSpec spec_;
  Metric error_;
  double start_error_ = 0;
  std::optional<double> best_;
  int waited_ = 0;
};

}  // namespace mf
