#include "harness/experiment/spec.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <system_error>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/files/shared_folder.hpp"
#include "base/hash.hpp"
#include "base/problems.hpp"
#include "base/text.hpp"
#include "datasets/load.hpp"
#include "harness/experiment/case_names.hpp"
#include "harness/experiment/spec_parts.hpp"

namespace mf {
namespace {

void check_list(const Json& list, const std::string& path) {
  if (list.is_array() && !list.empty()) return;
  fail(ErrorKind::usage, "{}: found {}, expected a list with at least one entry", path,
       describe(list));
}

constexpr double kCutValidation = 0.1;

// Whether rules of the entry watch the validation part of its data.
bool watches_validation(const AlgorithmEntry& entry, const DataEntry& data,
                        const EvaluateSpec& evaluate) {
  const Case item = make_case(entry, data, evaluate, 1);
  const auto& foreign = find_algorithm(entry.name).foreign;
  if (foreign && foreign->takes_test) return false;  // says no other number than that of the test
  const auto rules = watching_rules(item);
  return std::any_of(rules.begin(), rules.end(), [](const WatchingRule& rule) {
    return rule.monitor->part == MetricPart::validation;
  });
}

// A part for the rules that need one, if the split lacks one. All cases of a data set have it, so
// that all train on the same ratings.
void cut_validation(Spec& spec, std::vector<DataEntry>& data,
                    const std::vector<GivenAlgorithm>& algorithms, const EvaluateSpec& evaluate) {
  for (DataEntry& entry : data) {
    if (entry.split.validation > 0 || !entry.request.validation.empty()) continue;
    const auto found =
        std::find_if(algorithms.begin(), algorithms.end(), [&](const GivenAlgorithm& given) {
          return watches_validation(given.entry, entry, evaluate);
        });
    if (found == algorithms.end()) continue;
    const bool of_users = entry.split.kind == SplitSpec::Kind::leave_last;
    entry.split.validation = of_users ? entry.split.leave_last : kCutValidation;
    const std::string warning = fmt::format(
        "{}: rules of {} watch a validation part, which the split lacks: {} {} of the training "
        "ratings {} cut for it; \"validation\" in the split sets another",
        entry.path, found->entry.path, of_users ? "of each user the last" : "a share of",
        entry.split.validation, of_users ? "are" : "is");
    if (spec.warnings.empty() || spec.warnings.back() != warning)  // of the fold before
      spec.warnings.push_back(warning);
  }
}

void check_baseline(const std::string& baseline, const std::vector<GivenAlgorithm>& algorithms) {
  if (baseline.empty()) return;
  std::vector<std::string> names;
  for (const auto& given : algorithms) names.push_back(given.entry.name);
  if (std::find(names.begin(), names.end(), baseline) != names.end()) return;
  const std::string near = nearest(baseline, names);
  fail(ErrorKind::usage, "$.baseline: \"{}\" is not among the algorithms of this spec{}", baseline,
       near.empty() ? "" : "; did you mean \"" + near + "\"?");
}

}  // namespace

std::string folder_name(const std::string& name) {
  constexpr std::size_t kLongest = 60;  // of slug()
  std::string folder = slug(name);
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  if (std::none_of(folder.begin(), folder.end(), letter)) folder = "spec";
  if (folder.front() == '.') folder = "spec" + folder;  // not a hidden one
  if (folder == name) return folder;
  const std::string mark = sha256(name).substr(0, 8);
  return folder.substr(0, kLongest - mark.size() - 1) + "-" + mark;
}

std::optional<TargetSpec> target_of(const Spec& spec) {
  if (spec.target) return spec.target;
  if (!spec.target_rmse) return std::nullopt;
  return TargetSpec{kTestRmse, *spec.target_rmse};
}

namespace {

// The target of figures and tables: where both are given, that of any metric.
std::optional<Metric> target_metric(const SpecKeys& keys) {
  if (keys.target) return keys.target->metric;
  return keys.target_rmse ? std::optional(kTestRmse) : std::nullopt;
}

// A metric that no case has is a mistake. If some cases have it, a case without it is shown as if
// it missed the target.
void check_named(Spec& spec, Metric metric, const std::string& path) {
  std::vector<std::string> reasons;
  std::size_t without = 0;
  for (const Case& item : spec.cases) {
    const auto why = why_no_metric(item, metric);
    if (!why) continue;
    ++without;
    if (std::find(reasons.begin(), reasons.end(), *why) == reasons.end()) reasons.push_back(*why);
  }
  if (without > 0 && without == spec.cases.size()) {
    fail(ErrorKind::usage, "{}: {}", path, reasons.front());
  }
  for (const auto& why : reasons) {
    spec.warnings.push_back(fmt::format("{}: some cases cannot meet it: {}", path, why));
  }
}

void check_named(Spec& spec, const SpecKeys& keys) {
  Problems problems;
  const auto check = [&](Metric metric, const char* path) {
    problems.attempt([&] { check_named(spec, metric, path); });
  };
  if (const auto target = target_metric(keys)) {
    check(*target, keys.target ? "$.target" : "$.target_rmse");
  }
  for (const Metric one : keys.evaluate.metrics) check(one, "$.evaluate.metrics");
  problems.raise();
}

// With what an entry, the target and the search of the entry ask for.
EvaluateSpec evaluation_of(const SpecKeys& keys, const AlgorithmEntry& entry) {
  EvaluateSpec evaluate = keys.evaluate;
  if (entry.evaluate.every) evaluate.every = *entry.evaluate.every;
  if (const auto target = target_metric(keys)) evaluate.metrics.push_back(*target);
  if (entry.tune && entry.tune->metric) evaluate.metrics.push_back(*entry.tune->metric);
  return evaluate;
}

void check_clip(const Case& item) {
  if (!item.evaluate.clip || is_implicit(item)) return;
  if (const auto why = why_no_rating_scale(item.data)) {
    fail(ErrorKind::usage, "$.evaluate.clip: needs the rating scale of {} ({}): {}",
         item.data.label(), item.data_path, *why);
  }
}

// The parts of a spec that cases are made of.
struct SpecParts {
  SpecKeys keys;
  std::vector<DataEntry> data;
  std::vector<GivenAlgorithm> algorithms;
};

// Before any case is made.
void check_count(const SpecParts& parts) {
  const std::int64_t seeds = std::ssize(parts.keys.seeds), data = std::ssize(parts.data);
  const std::int64_t algorithms = std::ssize(parts.algorithms);
  std::int64_t trials = 0;
  for (const GivenAlgorithm& given : parts.algorithms) {
    if (const auto& tune = given.entry.tune) {
      const auto rungs = rung_epochs(kMaxCases, tune->eta).size();
      trials += data * count_runs(tune->trials, tune->eta, rungs);
    }
  }
  if (seeds * data * algorithms + trials <= kMaxCases) return;
  fail(ErrorKind::usage,
       "$: the sweeps give more than {} cases: {} seeds x {} data sets x {} algorithms{}; expected "
       "at most so many, cut the spec into several",
       kMaxCases, seeds, data, algorithms,
       trials == 0 ? "" : fmt::format(" and {} runs of trials", trials));
}

// Throws ErrorList with all that is wrong in any of them.
SpecParts read_parts(const Json& json, const std::string& name) {
  SpecParts parts;
  SpecKeys& keys = parts.keys;
  keys.name = name;
  Problems problems;
  JsonReader reader(json, "$");
  spec_form().parse_into(reader, keys, problems);
  const auto is_list = [&](const Json* list, const std::string& path) {
    return list != nullptr && problems.attempt([&] { check_list(*list, path); });
  };
  if (is_list(keys.datasets, "$.datasets")) {
    problems.attempt([&] { parts.data = read_data(keys); });
  }
  if (is_list(keys.algorithms, "$.algorithms") &&
      problems.attempt([&] { parts.algorithms = read_algorithms(keys); })) {
    problems.attempt([&] { check_count(parts); });
    problems.attempt([&] { check_baseline(keys.baseline, parts.algorithms); });
  }
  problems.raise();
  return parts;
}

// Makes the cases and studies; returns the entries of which some cases are there twice.
std::set<std::string> add_cases(Spec& spec, const SpecParts& parts) {
  std::set<std::string> seen, repeated;
  std::map<std::pair<const DataEntry*, const GivenAlgorithm*>, std::size_t> studies;
  const auto add = [&](std::uint64_t seed, const DataEntry& entry,
                       const GivenAlgorithm& algorithm) {
    const EvaluateSpec evaluate = evaluation_of(parts.keys, algorithm.entry);
    Case item = make_checked(algorithm.entry, entry, evaluate, seed);
    if (algorithm.entry.tune) mark_searched(item, *algorithm.entry.tune);
    if (!seen.insert(item.hash).second) {
      repeated.insert(entry.path + " with " + algorithm.entry.path);
      return;
    }
    if (algorithm.entry.tune) {
      const auto [at, added] = studies.try_emplace({&entry, &algorithm}, spec.studies.size());
      if (added) add_study(spec, make_study(item, algorithm, entry, evaluate));
      item.study = at->second;
    }
    spec.cases.push_back(std::move(item));
  };
  Problems problems;
  for (const auto seed : parts.keys.seeds) {
    for (const auto& entry : parts.data) {
      for (const auto& algorithm : parts.algorithms) {
        problems.attempt([&] { add(seed, entry, algorithm); });
      }
    }
  }
  problems.raise();
  return repeated;
}

void check_cases(Spec& spec, const SpecKeys& keys) {
  Problems problems;
  problems.attempt([&] { check_named(spec, keys); });
  if (keys.evaluate.clip) {
    for (const Case& item : spec.cases) problems.attempt([&] { check_clip(item); });
  }
  problems.raise();
}

}  // namespace

std::set<std::size_t> cases_named(const std::string& text, const std::vector<Case>& cases) {
  std::set<std::size_t> found;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].id.starts_with(text) || cases[i].hash.starts_with(text)) found.insert(i);
  }
  if (!found.empty()) return found;
  fail(ErrorKind::usage,
       "--case: found {}, expected the beginning of a case's id or hash, such as {}",
       in_quotes(text), cases.front().id);
}

Spec parse_spec(const Json& json, const std::string& file) {
  Spec spec;
  spec.source = json;
  spec.hash = sha256(canonical(json));
  const std::string stem = std::filesystem::path(file).stem().string();
  SpecParts parts = read_parts(json, stem);
  const SpecKeys& keys = parts.keys;
  spec.name = folder_name(keys.name.empty() ? stem : keys.name);
  spec.description = keys.description;
  spec.baseline = keys.baseline;
  spec.target_rmse = keys.target_rmse;
  spec.target = keys.target;
  spec.save_model = keys.save_model;
  cut_validation(spec, parts.data, parts.algorithms, keys.evaluate);
  const std::set<std::string> repeated = add_cases(spec, parts);
  name_cases(spec.cases);
  label_studies(spec);
  check_cases(spec, keys);
  warn_of_unequal(spec, parts.algorithms);
  warn_of_splits(spec, keys, parts.data);
  for (const auto& entries : repeated) {
    spec.warnings.push_back(entries + ": some of its cases stand there twice; each runs once");
  }
  return spec;
}

namespace {

// Specs that came with an installed mfbench are found by the name that the documents call them by.
std::string place_of(const std::string& path) {
  std::error_code ignored;
  if (!path.starts_with("experiments/") || std::filesystem::exists(path, ignored)) return path;
  const auto folder = shared_folder();
  const std::string shared = folder ? *folder + "/" + path : path;
  return std::filesystem::exists(shared, ignored) ? shared : path;
}

// For a file of ratings a JSON error would not help.
void refuse_ratings(const std::string& path) {
  constexpr std::string_view kBeginsJson = "{[/\xef";  // '/': a comment; last: a byte order mark
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || path.ends_with(".json")) return;
  char first = 0;
  std::ifstream(path) >> first;
  if (first == 0 || kBeginsJson.find(first) != kBeginsJson.npos) return;
  fail(
      ErrorKind::usage,
      "{}: found no JSON, expected a spec (docs/spec.md); for a file of ratings, `mfbench race {}` "
      "makes one",
      path, shell_word(path));
}

}  // namespace

Spec read_spec(const std::string& path) {
  refuse_ratings(path);
  const Json json = read_json_file(place_of(path));
  try {
    return parse_spec(json, path);
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", path, error.what());
  }
}

}  // namespace mf
