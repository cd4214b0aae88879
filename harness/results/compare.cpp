#include "harness/results/compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/json_values.hpp"
#include "harness/results/result_file.hpp"

namespace mf {
namespace {

struct Sample {
  Metric metric = Metric::test_rmse;
  std::vector<double> epochs;  // seconds of each epoch
  std::optional<double> best;
  std::optional<double> time_to_target;
};

using Seeds = std::map<std::int64_t, Sample>;
using Results = std::map<std::string, Seeds>;

std::string label_of(const Json& header) {
  std::string label = text_at(header, {"algorithm", "name"}).value_or("?");
  const Json& factors = value_at(header, {"algorithm", "params", "factors"});
  if (!factors.is_null()) label += fmt::format(" f={}", factors.dump());
  return label + " on " + text_at(header, {"dataset", "name"}).value_or("?");
}

// Everything that decides a result but the seed.
std::string key_of(const Json& header) {
  Json split = value_at(header, {"dataset", "split"});
  if (split.is_object()) split.erase("seed");
  return canonical({{"algorithm", value_at(header, {"algorithm", "name"})},
                    {"params", value_at(header, {"algorithm", "params"})},
                    {"dataset", value_at(header, {"dataset", "name"})},
                    {"split", split},
                    {"schedule", value_at(header, {"schedule"})},
                    {"init", value_at(header, {"init"})},
                    {"stop", value_at(header, {"stop"})}});
}

// The trace points are those of read_result_file, which has looked for these two.
double train_seconds(const Json& point) { return number_at(point, {"train_s"}).value_or(0); }
std::int64_t epoch_of(const Json& point) { return integer_at(point, {"epoch"}).value_or(0); }

// Linear between the trace points on both sides of the target.
std::optional<double> time_to_target(const std::vector<Json>& trace, std::optional<double> target) {
  if (!target) return std::nullopt;
  double before_s = 0;
  std::optional<double> before;
  for (const Json& point : trace) {
    const auto rmse = number_at(point, {"test_rmse"});
    if (!rmse) return std::nullopt;
    const double seconds = train_seconds(point);
    if (*rmse <= *target) {
      if (!before) return seconds;
      return before_s + (seconds - before_s) * (*before - *target) / (*before - *rmse);
    }
    before = rmse;
    before_s = seconds;
  }
  return std::nullopt;
}

// The first evaluated point that meets it.
std::optional<double> time_to_metric(const std::vector<Json>& trace, Metric metric, double target) {
  const std::string name = kMetricNames.of(metric);
  for (const Json& point : trace) {
    const auto value = number_at(point, {name.c_str()});
    if (value && meets(metric, *value, target)) return train_seconds(point);
  }
  return std::nullopt;
}

std::optional<double> time_to_target(const ResultFile& file) {
  const auto metric = kMetricNames.find(text_at(file.header, {"target", "metric"}).value_or(""));
  const auto value = number_at(file.header, {"target", "value"});
  if (metric && value) return time_to_metric(file.trace, *metric, *value);
  return time_to_target(file.trace, number_at(file.header, {"target_rmse"}));
}

// What the case is judged by first, as its footer has it.
Metric metric_of(const Json& footer) {
  if (best_of(footer, Metric::test_rmse)) return Metric::test_rmse;
  for (const Metric metric : {Metric::ndcg_100, Metric::objective}) {
    if (best_of(footer, metric)) return metric;
  }
  return Metric::test_rmse;
}

Sample sample_of(const ResultFile& file) {
  Sample sample;
  double before = 0;
  std::int64_t epoch_before = 0;
  for (const Json& point : file.trace) {
    const std::int64_t epoch = epoch_of(point);
    const double train = train_seconds(point);
    if (epoch > epoch_before) {
      sample.epochs.push_back((train - before) / static_cast<double>(epoch - epoch_before));
    }
    before = train;
    epoch_before = epoch;
  }
  // The first epoch warms caches and clocks.
  if (sample.epochs.size() > 2) sample.epochs.erase(sample.epochs.begin());
  sample.metric = metric_of(file.footer);
  sample.best = best_of(file.footer, sample.metric);
  sample.time_to_target = time_to_target(file);
  return sample;
}

// Completed results alone.
void add_file(const std::string& path, Results& results,
              std::map<std::string, std::string>& labels) {
  const auto file = read_result_file(path);
  if (!file) return;
  warn_of_damage(*file, "it is left out");
  if (file->status() != Status::completed) return;
  const auto seed = integer_at(file->header, {"seed"});
  if (!seed) {
    fmt::print(stderr, "warning: {}: line 1: a header without \"seed\"; it is left out\n", path);
    return;
  }
  const std::string key = key_of(file->header);
  labels[key] = label_of(file->header);
  results[key][*seed] = sample_of(*file);
}

Results read_folder(const std::string& folder, std::map<std::string, std::string>& labels) {
  if (!std::filesystem::is_directory(folder)) {
    fail(ErrorKind::usage, "{}: is no folder of results", folder);
  }
  Results results;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jsonl") continue;
    add_file(entry.path().string(), results, labels);
  }
  return results;
}

Comparison compare_case(const std::string& label, const Seeds& first, const Seeds& second,
                        double margin) {
  Comparison out;
  out.label = label;
  std::vector<double> a, b, best, ratio;
  for (const auto& [seed, one] : first) {
    const auto it = second.find(seed);
    if (it == second.end()) continue;
    const Sample& other = it->second;
    ++out.seeds;
    a.insert(a.end(), one.epochs.begin(), one.epochs.end());
    b.insert(b.end(), other.epochs.begin(), other.epochs.end());
    out.metric = one.metric;
    if (one.best && other.best && one.metric == other.metric) {
      best.push_back(*other.best - *one.best);
    }
    if (one.time_to_target && other.time_to_target) {
      ratio.push_back(*other.time_to_target / *one.time_to_target);
    }
  }
  out.difference = median(best);
  out.target_ratio = median(ratio);
  if (a.empty() || b.empty()) return out;
  out.epoch_ratio = *median(b) / *median(a);
  out.epoch_interval = ratio_interval(b, a, 1);
  out.verdict = judge(*out.epoch_ratio, *out.epoch_interval, margin);
  return out;
}

}  // namespace

Verdict judge(double ratio, const Interval& interval, double margin) {
  if (interval.low >= 1 - margin && interval.high <= 1 + margin) return Verdict::same;
  if (interval.high < 1 && ratio < 1 - margin) return Verdict::faster;
  if (interval.low > 1 && ratio > 1 + margin) return Verdict::slower;
  return Verdict::ambiguous;
}

std::vector<Comparison> compare_results(const std::string& first, const std::string& second,
                                        double margin) {
  std::map<std::string, std::string> labels;
  const Results a = read_folder(first, labels);
  const Results b = read_folder(second, labels);
  std::vector<Comparison> all;
  for (const auto& [key, seeds] : a) {
    const auto it = b.find(key);
    if (it == b.end()) continue;
    Comparison one = compare_case(labels[key], seeds, it->second, margin);
    if (one.seeds > 0) all.push_back(std::move(one));
  }
  if (all.empty()) {
    fail(ErrorKind::usage,
         "{} and {} have no completed case in common: compared are cases that agree in algorithm, "
         "parameters, data set, split, schedule and stop rule, seed by seed",
         first, second);
  }
  std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.label < y.label; });
  return all;
}

Json to_json(const Comparison& comparison) {
  const auto& interval = comparison.epoch_interval;
  const bool rmse = comparison.metric == Metric::test_rmse;
  Json json = {{"label", comparison.label},
               {"seeds", comparison.seeds},
               {"epoch_time_ratio", number_or_null(comparison.epoch_ratio)},
               {"epoch_time_ratio_low", interval ? number_or_null(interval->low) : Json()},
               {"epoch_time_ratio_high", interval ? number_or_null(interval->high) : Json()},
               {"verdict", kVerdicts.of(comparison.verdict)},
               {"best_rmse_difference", rmse ? number_or_null(comparison.difference) : Json()},
               {"target_time_ratio", number_or_null(comparison.target_ratio)}};
  if (rmse) return json;
  json["metric"] = kMetricNames.of(comparison.metric);
  json["best_difference"] = number_or_null(comparison.difference);
  return json;
}

}  // namespace mf
