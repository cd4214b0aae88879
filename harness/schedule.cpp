#include "harness/schedule.hpp"

#include <cmath>

namespace mf {
namespace {

constexpr double kMaxRate = 1e3;

std::string kind_name(ScheduleSpec::Kind kind) {
  switch (kind) {
    case ScheduleSpec::Kind::plateau:
      return "plateau";
    case ScheduleSpec::Kind::inverse_power:
      return "inverse_power";
    case ScheduleSpec::Kind::exponential:
      return "exponential";
    case ScheduleSpec::Kind::constant:
      break;
  }
  return "constant";
}

}  // namespace

Monitor read_monitor(JsonReader& reader) {
  const auto name = reader.choice("monitor", "test", {"test", "train", "validation"});
  if (name == "train") return Monitor::train;
  return name == "validation" ? Monitor::validation : Monitor::test;
}

std::string to_string(Monitor monitor) {
  switch (monitor) {
    case Monitor::train:
      return "train";
    case Monitor::validation:
      return "validation";
    case Monitor::test:
      break;
  }
  return "test";
}

ScheduleSpec parse_schedule(const Json& json, const std::string& path) {
  ScheduleSpec spec;
  JsonReader reader(json, path);
  const std::string kind =
      reader.choice("kind", "constant", {"constant", "plateau", "inverse_power", "exponential"});
  spec.learning_rate = reader.number("learning_rate", spec.learning_rate, 0, kMaxRate);
  if (kind == "plateau") {
    spec.kind = ScheduleSpec::Kind::plateau;
    spec.patience = static_cast<int>(reader.integer("patience", spec.patience, 1, 1'000'000));
    spec.decay = reader.number("decay", spec.decay, 0, 1);
    spec.min_delta = reader.number("min_delta", spec.min_delta, 0, 1e6);
    spec.monitor = read_monitor(reader);
  } else if (kind == "inverse_power") {
    spec.kind = ScheduleSpec::Kind::inverse_power;
    spec.beta = reader.number("beta", spec.beta, 0, 1e6);
  } else if (kind == "exponential") {
    spec.kind = ScheduleSpec::Kind::exponential;
    spec.decay = reader.number("decay", 0.95, 0, 1);
  }
  reader.finish();
  return spec;
}

Json ScheduleSpec::to_json() const {
  Json json = {{"kind", kind_name(kind)}, {"learning_rate", learning_rate}};
  if (kind == Kind::plateau) {
    json["patience"] = patience;
    json["decay"] = decay;
    json["min_delta"] = min_delta;
    json["monitor"] = to_string(monitor);
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

void Schedule::observe(double monitored_rmse) {
  if (spec_.kind != ScheduleSpec::Kind::plateau) return;
  if (!seen_ || monitored_rmse < best_ - spec_.min_delta) {
    best_ = monitored_rmse;
    seen_ = true;
    waited_ = 0;
  } else if (++waited_ >= spec_.patience) {
    rate_ *= spec_.decay;
    waited_ = 0;
  }
}

}  // namespace mf
