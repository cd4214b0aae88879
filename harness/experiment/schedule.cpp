#include "harness/experiment/schedule.hpp"

#include <cmath>

#include "base/json/form.hpp"
#include "harness/experiment/metric_keys.hpp"

namespace mf {
namespace {

using Kind = ScheduleSpec::Kind;
using ScheduleForm = Form<ScheduleSpec>;

ScheduleForm make_schedule_form() {
  const auto plateau = ScheduleForm()
                           .integer("patience", &ScheduleSpec::patience, 1, 1'000'000,
                                    "evaluations without improvement")
                           .number("decay", &ScheduleSpec::decay, 0, 1, "factor at each plateau")
                           .number("min_delta", &ScheduleSpec::min_delta, 0, 1e6,
                                   "smaller improvements do not count")
                           .field(monitor_info(), read_metric("monitor", &ScheduleSpec::monitor,
                                                              MetricUse::monitor));
  const auto inverse_power = ScheduleForm().number("beta", &ScheduleSpec::beta, 0, 1e6,
                                                   "alpha / (1 + beta t^1.5), t = epoch - 1");
  const auto exponential =
      ScheduleForm().number("decay", &ScheduleSpec::decay, 0, 1, "alpha decay^t", 0.95);
  return ScheduleForm()
      .kinds("kind", &ScheduleSpec::kind, kScheduleKindNames,
             {{Kind::plateau, plateau},
              {Kind::inverse_power, inverse_power},
              {Kind::exponential, exponential}},
             "how the learning rate changes")
      .number("learning_rate", &ScheduleSpec::learning_rate, 0, kMaxLearningRate,
              "alpha, the rate of epoch 1");
}

}  // namespace

const Form<ScheduleSpec>& schedule_form() {
  static const ScheduleForm form = make_schedule_form();
  return form;
}

Json ScheduleSpec::to_json() const {
  Json json = {{"kind", kScheduleKindNames.of(kind)}, {"learning_rate", learning_rate}};
  if (kind == Kind::plateau) {
    json["patience"] = patience;
    json["decay"] = decay;
    json["min_delta"] = min_delta;
    if (monitor) json["monitor"] = word_of(*monitor, MetricUse::monitor);
  } else if (kind == Kind::inverse_power) {
    json["beta"] = beta;
  } else if (kind == Kind::exponential) {
    json["decay"] = decay;
  }
  return json;
}

double Schedule::rate(std::int64_t epoch) const {
  const auto t = static_cast<double>(epoch - 1);
  switch (spec_.kind) {
    case ScheduleSpec::Kind::inverse_power:
      return spec_.learning_rate / (1 + spec_.beta * std::pow(t, 1.5));
    case ScheduleSpec::Kind::exponential:
      return spec_.learning_rate * std::pow(spec_.decay, t);
    case ScheduleSpec::Kind::plateau:
    case ScheduleSpec::Kind::constant:
      break;
  }
  return rate_;
}

void Schedule::observe(double monitored) {
  // A missing value is neither better nor worse.
  if (spec_.kind != ScheduleSpec::Kind::plateau || std::isnan(monitored)) return;
  if (!seen_ || monitored < best_ - spec_.min_delta) {
    best_ = monitored;
    seen_ = true;
    waited_ = 0;
  } else if (++waited_ >= spec_.patience) {
    rate_ *= spec_.decay;
    waited_ = 0;
  }
}

}  // namespace mf
