#include "harness/results/compared_case.hpp"

#include <cstddef>

#include "base/json_values.hpp"
#include "harness/results/stats.hpp"

namespace mf {
namespace {

// "section.key" for every value inside, at any depth.
void flatten(const Json& value, const std::string& name, Configuration& into) {
  if (!value.is_object()) {
    into[name] = value;
    return;
  }
  for (const auto& [key, inner] : value.items()) flatten(inner, name + "." + key, into);
}

std::optional<TargetSpec> named_target(const Json& header) {
  const auto metric = kMetricNames.find(text_at(header, {"target", "metric"}).value_or(""));
  const auto value = number_at(header, {"target", "value"});
  if (metric && value) return TargetSpec{*metric, *value};
  if (const auto rmse = number_at(header, {"target_rmse"})) {
    return TargetSpec{Metric::test_rmse, *rmse};
  }
  return std::nullopt;
}

// What the case is judged by first, as its footer has it.
Metric judged_by(const Json& footer) {
  for (const Metric metric : {Metric::test_rmse, Metric::ndcg_100, Metric::objective}) {
    if (best_of(footer, metric)) return metric;
  }
  return Metric::test_rmse;
}

}  // namespace

Configuration configuration_of(const Json& header) {
  Configuration all;
  all["algorithm"] = value_at(header, {"algorithm", "name"});
  all["dataset"] = value_at(header, {"dataset", "name"});
  all["dataset.content_hash"] = value_at(header, {"dataset", "content_hash"});
  flatten(value_at(header, {"algorithm", "params"}), "params", all);
  flatten(value_at(header, {"dataset", "split"}), "split", all);
  for (const char* section : {"schedule", "init", "stop", "evaluate"}) {
    flatten(value_at(header, {section}), section, all);
  }
  all.erase("split.seed");
  return all;
}

// The trace points are those of read_result_file, which has looked for "epoch" and "train_s".
double train_seconds_to(const std::vector<Json>& trace, const TargetSpec& target) {
  const std::string name = kMetricNames.of(target.metric);
  for (const Json& point : trace) {
    const auto value = number_at(point, {name.c_str()});
    if (value && meets(target.metric, *value, target.value)) {
      return number_at(point, {"train_s"}).value_or(kNever);
    }
  }
  return kNever;
}

std::optional<double> steady_epoch_seconds(const std::vector<Json>& trace) {
  std::vector<double> first, others;  // an entry an epoch
  std::int64_t epoch_before = 0;
  double train_before = 0;
  for (const Json& point : trace) {
    const std::int64_t epoch = integer_at(point, {"epoch"}).value_or(0);
    const double train = number_at(point, {"train_s"}).value_or(0);
    const std::int64_t count = epoch - epoch_before;
    if (count > 0) {
      const double mean = (train - train_before) / static_cast<double>(count);
      auto& epochs = first.empty() ? first : others;
      epochs.insert(epochs.end(), static_cast<std::size_t>(count), mean);
    }
    epoch_before = epoch;
    train_before = train;
  }
  return median(others.empty() ? first : others);
}

std::optional<ComparedCase> compared_case(const std::string& path, const ResultFile& file) {
  const auto seed = integer_at(file.header, {"seed"});
  if (!seed || !file.status()) return std::nullopt;
  ComparedCase one;
  one.file = path;
  one.configuration = configuration_of(file.header);
  one.repeat = {*seed, value_at(file.header, {"dataset", "split", "seed"})};
  one.status = *file.status();
  one.gpu = text_at(file.header, {"algorithm", "hardware"}) == "cuda";
  one.environment = value_at(file.header, {"environment"});
  one.target = named_target(file.header);
  one.metric = judged_by(file.footer);
  one.best = best_of(file.footer, one.metric);
  one.epoch_s = number_at(file.footer, {"steady_epoch_s"});
  if (!one.epoch_s) one.epoch_s = steady_epoch_seconds(file.trace);
  one.prepared_s = number_at(file.footer, {"clocks", "prepare_s"}).value_or(0) +
                   number_at(file.footer, {"clocks", "transfer_s"}).value_or(0);
  one.train_s = number_at(file.footer, {"clocks", "train_s"}).value_or(0);
  one.trace = file.trace;
  return one;
}

AnswerTimes answer_times(const ComparedCase& one, const std::optional<TargetSpec>& target) {
  if (!target && one.status != Status::completed) return {};
  const double train = target ? train_seconds_to(one.trace, *target) : one.train_s;
  return {train, one.prepared_s + train};
}

}  // namespace mf
