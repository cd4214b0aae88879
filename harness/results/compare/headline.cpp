#include "harness/results/compare/headline.hpp"

#include <cmath>

#include "algorithms/core/registry.hpp"
#include "base/json/json_values.hpp"
#include "harness/experiment/metric_keys.hpp"

namespace mf {
namespace {

std::optional<double> value_of(const Json& point, Metric metric) {
  const auto value = number_at(point, {metric.key().c_str()});
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::int64_t epoch_of(const Json& point) { return integer_at(point, {"epoch"}).value_or(0); }

// The first of the best points after epoch 0.
const Json* best_point(const ResultFile& file, Metric metric) {
  const Json* best = nullptr;
  for (const Json& point : file.trace) {
    const auto value = epoch_of(point) > 0 ? value_of(point, metric) : std::nullopt;
    if (value && (best == nullptr || metric.is_better(*value, *value_of(*best, metric)))) {
      best = &point;
    }
  }
  return best;
}

bool is_on_test(const Json& header, std::initializer_list<const char*> rule) {
  const auto word = text_at(value_at(header, rule), {"monitor"});
  if (!word) return false;
  for (const Metric one : usual_metrics()) {
    if (word_of(one, MetricUse::monitor) == *word) return one->part == MetricPart::test;
  }
  const auto metric = find_metric(*word);
  return metric && (*metric)->part == MetricPart::test;
}

// An algorithm without a learning rate ignores the schedule. For an algorithm that is not in this
// build, it is not known.
bool uses_schedule(const Json& header) {
  const std::string name = text_at(header, {"algorithm", "name"}).value_or("");
  for (const auto* info : all_algorithms()) {
    if (info->name == name) return info->uses_learning_rate;
  }
  return true;
}

}  // namespace

Metric judged_by(const ResultFile& file) {
  const bool trial = value_at(file.header, {"trial"}).is_object();
  for (const Metric main : kMainMetrics) {
    const Metric metric = trial && !main.is_ranking() ? on_validation(main) : main;
    for (const Json& point : file.trace) {
      if (value_of(point, metric)) return metric;
    }
  }
  return find_metric(text_at(file.header, {"trial", "metric"}).value_or("")).value_or(Metric());
}

std::optional<ValueAt> last_of(const ResultFile& file, Metric metric) {
  if (file.trace.empty()) return std::nullopt;
  const Json& point = file.trace.back();
  const auto value = value_of(point, metric);
  const bool untrained = epoch_of(point) == 0 && file.status() != Status::completed;
  if (!value || untrained) return std::nullopt;
  return ValueAt{*value, epoch_of(point)};
}

std::optional<Headline> headline_of(const ResultFile& file, Metric metric) {
  if (file.trace.empty()) return std::nullopt;
  Headline headline{metric, {}, std::nullopt};
  const Metric chooser = on_validation(metric);
  const Json* point = chooser == metric ? nullptr : best_point(file, chooser);
  if (point == nullptr) {
    const auto last = last_of(file, metric);
    if (!last) return std::nullopt;
    headline.at = *last;
    return headline;
  }
  const auto value = value_of(*point, metric);
  if (!value) return std::nullopt;
  headline.chosen_by = chooser;
  headline.at = {*value, epoch_of(*point)};
  return headline;
}

std::optional<ValueAt> best_seen(const ResultFile& file, Metric metric) {
  const Json* best = best_point(file, metric);
  if (best == nullptr) return std::nullopt;
  return ValueAt{*value_of(*best, metric), epoch_of(*best)};
}

std::vector<std::string> rules_on_test(const Json& header) {
  std::vector<std::string> names;
  if (value_at(header, {"trial"}).is_object()) return names;
  if (is_on_test(header, {"schedule"}) && uses_schedule(header)) names.push_back("schedule");
  if (is_on_test(header, {"stop", "plateau"})) names.push_back("stop.plateau");
  return names;
}

// If users are split, the validation part has other users.
bool ranked_validation(const Json& header) {
  const Json& ranking = value_at(header, {"ranking"});
  return ranking.is_object() && !ranking.contains("seen") &&
         integer_at(header, {"dataset", "nnz_validation"}).value_or(0) > 0 &&
         !value_at(header, {"trial"}).is_object() &&
         value_at(header, {"dataset", "split", "users"}).is_null();
}

}  // namespace mf
