#include "harness/spec/stopping.hpp"

#include <fmt/core.h>

#include <cmath>

#include "base/form.hpp"

namespace mf {
namespace {

using StopForm = Form<StopSpec>;

StopForm make_stop_form() {
  const auto plateau =
      StopForm()
          .integer("patience", &StopSpec::plateau_patience, 1, 1'000'000,
                   "evaluations without improvement", 3)
          .number("min_delta", &StopSpec::plateau_min_delta, 0, 1e6,
                  "smaller improvements do not count")
          .choice("monitor", &StopSpec::plateau_monitor, kMonitorNames, "the RMSE that is watched");
  return StopForm()
      .integer("epochs", &StopSpec::epochs, 0, 1'000'000'000, "epochs at most")
      .number("train_seconds", &StopSpec::train_seconds, 0, 1e9, "on the training clock")
      .number("wall_seconds", &StopSpec::wall_seconds, 0, 1e9,
              "of the case, with loading and evaluation")
      .number("target_rmse", &StopSpec::target_rmse, 0, 1e9, "a test RMSE at or below it")
      .number("divergence", &StopSpec::divergence, 0, 1e30,
              "diverged: a test RMSE over this times that of epoch 0")
      .group("plateau", plateau, "no improvement any more");
}

}  // namespace

const Form<StopSpec>& stop_form() {
  static const StopForm form = make_stop_form();
  return form;
}

StopSpec parse_stop(const Json& json, const std::string& path) {
  return stop_form().parse(json, path);
}

Json StopSpec::to_json() const {
  Json json = {{"epochs", epochs}};
  if (train_seconds) json["train_seconds"] = *train_seconds;
  if (wall_seconds) json["wall_seconds"] = *wall_seconds;
  if (target_rmse) json["target_rmse"] = *target_rmse;
  json["divergence"] = divergence;
  if (plateau_patience > 0) {
    json["plateau"] = {{"patience", plateau_patience},
                       {"min_delta", plateau_min_delta},
                       {"monitor", to_string(plateau_monitor)}};
  }
  return json;
}

std::optional<StopDecision> Stopping::check_quality(const StopInput& input) {
  if (!std::isfinite(input.test_rmse)) {
    return StopDecision{Status::diverged,
                        fmt::format("the test RMSE of epoch {} is not finite", input.epoch)};
  }
  if (input.test_rmse > spec_.divergence * start_rmse_ && input.epoch > 0) {
    return StopDecision{Status::diverged,
                        fmt::format("test RMSE {:.4f} after epoch {} is over {} x that of "
                                    "the initial model ({:.4f})",
                                    input.test_rmse, input.epoch, spec_.divergence, start_rmse_)};
  }
  if (spec_.target_rmse && input.test_rmse <= *spec_.target_rmse) {
    return StopDecision{Status::completed, fmt::format("reached the target RMSE {} after epoch {}",
                                                       *spec_.target_rmse, input.epoch)};
  }
  if (spec_.plateau_patience == 0) return std::nullopt;
  if (!best_ || input.monitored_rmse < *best_ - spec_.plateau_min_delta) {
    best_ = input.monitored_rmse;
    waited_ = 0;
  } else if (++waited_ >= spec_.plateau_patience) {
    return StopDecision{Status::completed,
                        fmt::format("no better {} RMSE in {} evaluations",
                                    to_string(spec_.plateau_monitor), spec_.plateau_patience)};
  }
  return std::nullopt;
}

std::optional<StopDecision> Stopping::check(const StopInput& input) {
  if (input.evaluated) {
    if (auto decision = check_quality(input)) return decision;
  }
  if (input.epoch >= spec_.epochs) {
    return StopDecision{Status::completed, fmt::format("{} epochs done", input.epoch)};
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
