// Learning-rate schedules. They belong to the harness, so that every algorithm is driven alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json/json_fwd.hpp"
#include "base/json/names.hpp"
#include "harness/experiment/metric.hpp"

namespace mf {

template <class T>
class Form;  // base/json/form.hpp

inline constexpr double kMaxLearningRate = 1e3;

struct ScheduleSpec {
  enum class Kind { constant, plateau, inverse_power, exponential };
  Kind kind = Kind::constant;
  double learning_rate = 0.005;  // of epoch 1 (alpha)
  double beta = 0.1;             // inverse_power: alpha / (1 + beta t^1.5), t = epoch - 1
  double decay = 0.2;            // plateau: factor at a plateau; exponential: factor each epoch
  int patience = 2;              // plateau: evaluations without improvement
  double min_delta = 0;          // plateau: smaller improvements do not count
  // Empty until the case is known. Several papers watch the test part: that is asked for by name,
  // and marked.
  std::optional<Metric> monitor;

  Json to_json() const;
};
inline constexpr Names kScheduleKindNames{
    std::to_array<Named<ScheduleSpec::Kind>>({{"constant", ScheduleSpec::Kind::constant},
                                              {"plateau", ScheduleSpec::Kind::plateau},
                                              {"inverse_power", ScheduleSpec::Kind::inverse_power},
                                              {"exponential", ScheduleSpec::Kind::exponential}})};

const Form<ScheduleSpec>& schedule_form();

class Schedule {
 public:
  explicit Schedule(ScheduleSpec spec) : spec_(spec), rate_(spec.learning_rate) {}

  double rate(std::int64_t epoch) const;  // of epoch 1, 2, ...
  void observe(double monitored);         // after each evaluation; less is better

  // The rate changes, if at all, only by observe().
  bool constant_between_evaluations() const {
    return spec_.kind == ScheduleSpec::Kind::constant || spec_.kind == ScheduleSpec::Kind::plateau;
  }

 private:
  ScheduleSpec spec_;
  double rate_;
  double best_ = 0;
  bool seen_ = false;
  int waited_ = 0;
};

}  // namespace mf
