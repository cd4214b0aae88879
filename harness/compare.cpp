#include "harness/compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "harness/result_file.hpp"

namespace mf {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Sample {
  std::vector<double> epochs;  // seconds of each epoch
  double best = kNaN;
  double time_to_target = kNaN;
};

using Seeds = std::map<std::int64_t, Sample>;
using Results = std::map<std::string, Seeds>;

std::string label_of(const Json& header) {
  const Json& algorithm = header["algorithm"];
  std::string label = algorithm.value("name", "?");
  const Json& params = algorithm["params"];
  if (params.contains("factors")) label += fmt::format(" f={}", params["factors"].dump());
  return label + " on " + header["dataset"].value("name", "?");
}

// Everything that decides a result but the seed.
std::string key_of(const Json& header) {
  Json split = header["dataset"].value("split", Json());
  if (split.is_object()) split.erase("seed");
  return canonical({{"algorithm", header["algorithm"]["name"]},
                    {"params", header["algorithm"]["params"]},
                    {"dataset", header["dataset"]["name"]},
                    {"split", split},
                    {"schedule", header["schedule"]},
                    {"init", header["init"]},
                    {"stop", header["stop"]}});
}

// Linear between the trace points on both sides of the target.
double time_to_target(const std::vector<Json>& trace, const Json& target) {
  if (!target.is_number()) return kNaN;
  const auto goal = target.get<double>();
  double before_s = 0;
  double before = kNaN;
  for (const Json& point : trace) {
    if (!point["test_rmse"].is_number()) return kNaN;
    const auto rmse = point["test_rmse"].get<double>();
    const auto seconds = point["train_s"].get<double>();
    if (rmse <= goal) {
      if (!(before > goal)) return seconds;
      return before_s + (seconds - before_s) * (before - goal) / (before - rmse);
    }
    before = rmse;
    before_s = seconds;
  }
  return kNaN;
}

Sample sample_of(const ResultFile& file) {
  Sample sample;
  double before = 0;
  std::int64_t epoch_before = 0;
  for (const Json& point : file.trace) {
    const auto epoch = point["epoch"].get<std::int64_t>();
    const auto train = point["train_s"].get<double>();
    if (epoch > epoch_before) {
      sample.epochs.push_back((train - before) / static_cast<double>(epoch - epoch_before));
    }
    before = train;
    epoch_before = epoch;
  }
  // The first epoch warms caches and clocks.
  if (sample.epochs.size() > 2) sample.epochs.erase(sample.epochs.begin());
  const Json& best = file.footer["best_test_rmse"];
  if (best.is_number()) sample.best = best.get<double>();
  sample.time_to_target = time_to_target(file.trace, file.header["target_rmse"]);
  return sample;
}

Results read_folder(const std::string& folder, std::map<std::string, std::string>& labels) {
  if (!std::filesystem::is_directory(folder)) {
    fail(ErrorKind::usage, "{}: is no folder of results", folder);
  }
  Results results;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jsonl") continue;
    const auto file = read_result_file(entry.path().string());
    if (!file || !file->finished() || file->footer.value("status", "") != "completed") continue;
    const std::string key = key_of(file->header);
    labels[key] = label_of(file->header);
    results[key][file->header["seed"].get<std::int64_t>()] = sample_of(*file);
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
    best.push_back(other.best - one.best);
    if (std::isfinite(one.time_to_target) && std::isfinite(other.time_to_target)) {
      ratio.push_back(other.time_to_target / one.time_to_target);
    }
  }
  out.rmse_difference = median(best);
  out.target_ratio = median(ratio);
  if (a.empty() || b.empty()) return out;
  out.epoch_ratio = median(b) / median(a);
  out.epoch_interval = ratio_interval(b, a, 1);
  out.verdict = judge(out.epoch_ratio, out.epoch_interval, margin);
  return out;
}

}  // namespace

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::same:
      return "same";
    case Verdict::ambiguous:
      break;
  }
  return "ambiguous";
}

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
  return {{"label", comparison.label},
          {"seeds", comparison.seeds},
          {"epoch_time_ratio", number_or_null(comparison.epoch_ratio)},
          {"epoch_time_ratio_low", number_or_null(comparison.epoch_interval.low)},
          {"epoch_time_ratio_high", number_or_null(comparison.epoch_interval.high)},
          {"verdict", to_string(comparison.verdict)},
          {"best_rmse_difference", number_or_null(comparison.rmse_difference)},
          {"target_time_ratio", number_or_null(comparison.target_ratio)}};
}

}  // namespace mf
