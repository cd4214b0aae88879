#include "harness/experiment/stopping.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/counted.hpp"
#include "base/json/form.hpp"
#include "harness/experiment/metric_keys.hpp"

namespace mf {
namespace {

using StopForm = Form<StopSpec>;
StopForm make_stop_form() {
  const auto plateau = StopForm()
                           .integer("patience", &StopSpec::plateau_patience, 1, 1'000'000,
                                    "evaluations without improvement", 3)
                           .number("min_delta", &StopSpec::plateau_min_delta, 0, 1e6,
                                   "smaller improvements do not count")
                           .field(monitor_info(), read_metric("monitor", &StopSpec::plateau_monitor,
                                                              MetricUse::monitor));
  return StopForm()
      .integer("epochs", &StopSpec::epochs, 0, 1'000'000'000, "epochs at most")
      .number("train_seconds", &StopSpec::train_seconds, 0, 1e9, "on the training clock")
      .number("wall_seconds", &StopSpec::wall_seconds, 0, 1e9,
              "seconds of the case, with loading and evaluation")
      .number("target_rmse", &StopSpec::target_rmse, 0, 1e9, "a test RMSE at or below it")
      .object("target", &StopSpec::target, target_form(), "a value of any metric, at or beyond it")
      .number("divergence", &StopSpec::divergence, 0, 1e30,
              "diverged: far off, over this times the larger of epoch 0 and a trivial model's")
      .group("plateau", plateau, "no improvement any more");
}

}  // namespace

const Form<StopSpec>& stop_form() {
  static const StopForm form = make_stop_form();
  return form;
}

Json StopSpec::to_json() const {
  Json json = {{"epochs", epochs}};
  if (train_seconds) json["train_seconds"] = *train_seconds;
  if (wall_seconds) json["wall_seconds"] = *wall_seconds;
  if (target_rmse) json["target_rmse"] = *target_rmse;
  if (target) json["target"] = mf::to_json(*target);
  json["divergence"] = divergence;
  if (plateau_patience > 0) {
    json["plateau"] = {{"patience", plateau_patience}, {"min_delta", plateau_min_delta}};
    if (plateau_monitor) json["plateau"]["monitor"] = word_of(*plateau_monitor, MetricUse::monitor);
  }
  return json;
}

std::optional<StopDecision> Stopping::check_divergence(const StopInput& input) const {
  const double error = input.metrics.to_minimize(error_);
  if (!std::isfinite(error)) {
    return StopDecision{Status::diverged, fmt::format("the {} of epoch {} is not finite",
                                                      error_.title(), input.epoch)};
  }
  const bool rmse = error_->measure == Measure::rmse;
  const double far = (rmse ? kFarFromMean : 1) * reference_.trivial;
  const double limit = spec_.divergence * std::max(reference_.initial, far);
  if (input.epoch == 0 || !(error > limit)) return std::nullopt;
  const std::string trivial = error_.format(reference_.trivial);
  return StopDecision{
      Status::diverged,
      fmt::format("{} {} after epoch {} is over {} x the larger of that of the initial model ({}) "
                  "and {}",
                  error_.title(), error_.format(error), input.epoch, spec_.divergence,
                  error_.format(reference_.initial),
                  rmse ? fmt::format("{} x that of predicting the mean ({})", kFarFromMean, trivial)
                       : fmt::format("that of a model of zeros ({})", trivial))};
}

std::optional<StopDecision> Stopping::check_targets(const StopInput& input) const {
  const auto reached = [&](Metric metric, double target, const std::string& name) {
    const auto value = input.metrics[metric];
    if (!value || !metric.meets(*value, target)) return std::optional<StopDecision>();
    return std::optional(StopDecision{
        Status::completed,
        fmt::format("reached the target {} {} after epoch {}", name, target, input.epoch)});
  };
  if (spec_.target_rmse) {
    if (auto decision = reached(kTestRmse, *spec_.target_rmse, "RMSE")) return decision;
  }
  if (!spec_.target) return std::nullopt;
  return reached(spec_.target->metric, spec_.target->value, spec_.target->metric.key());
}

std::optional<StopDecision> Stopping::check_plateau(const StopInput& input) {
  const Metric monitor = spec_.plateau_monitor.value_or(kValidationRmse);
  const double now = input.metrics.to_minimize(monitor);
  // A missing value is neither better nor worse, and the initial model never counts as the best.
  if (spec_.plateau_patience == 0 || std::isnan(now) || input.epoch == 0) return std::nullopt;
  if (!best_ || now < *best_ - spec_.plateau_min_delta) {
    best_ = now;
    waited_ = 0;
  } else if (++waited_ >= spec_.plateau_patience) {
    return StopDecision{Status::completed, fmt::format("no better {} in {} evaluations",
                                                       monitor.title(), spec_.plateau_patience)};
  }
  return std::nullopt;
}

std::optional<StopDecision> Stopping::check(const StopInput& input) {
  if (input.evaluated) {
    if (auto decision = check_divergence(input)) return decision;
    if (auto decision = check_targets(input)) return decision;
    if (auto decision = check_plateau(input)) return decision;
  }
  if (input.epoch >= spec_.epochs) {
    return StopDecision{Status::completed, counted(input.epoch, "epoch") + " done"};
  }
  if (spec_.train_seconds && input.train_s >= *spec_.train_seconds) {
    return StopDecision{Status::completed,
                        fmt::format("{} s of training used", *spec_.train_seconds)};
  }
  if (spec_.wall_seconds && input.wall_s >= *spec_.wall_seconds) {
    return StopDecision{Status::timeout,
                        fmt::format("wall time limit of {} s passed after epoch {}",
                                    *spec_.wall_seconds, input.epoch)};
  }
  return std::nullopt;
}

}  // namespace mf
