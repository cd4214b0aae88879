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
#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/files/shared_folder.hpp"
#include "base/hash.hpp"
#include "base/json/json_values.hpp"
#include "base/problems.hpp"
#include "base/text.hpp"
#include "datasets/dataset_entry.hpp"
#include "datasets/load.hpp"
#include "harness/experiment/case_names.hpp"
#include "harness/experiment/metric_keys.hpp"
#include "harness/experiment/spec_forms.hpp"

namespace mf {
namespace {

constexpr std::int64_t kMaxCases = 100'000;

// A scalar stands for itself; lists, also those in lists, for their elements.
std::vector<Json> expand_value(const Json& value, const std::string& path) {
  if (value.is_object()) return expand_sweeps(value, path);
  if (!value.is_array()) return {value};
  if (value.empty()) fail(ErrorKind::usage, "{}: an empty list sweeps over nothing", path);
  std::vector<Json> all;
  for (const auto& element : value) {
    for (auto& expanded : expand_value(element, path)) all.push_back(std::move(expanded));
  }
  return all;
}

// What is more than kMaxCases counts as one more.
std::int64_t product(std::int64_t a, std::int64_t b) {
  return b != 0 && a > kMaxCases / b ? kMaxCases + 1 : a * b;
}

// How many values expand_value() gives, without making them. An empty list, which it refuses, is
// one.
std::int64_t count_values(const Json& value) {
  std::int64_t count = value.is_array() && !value.empty() ? 0 : 1;
  if (value.is_array()) {
    for (const Json& one : value) count = std::min(kMaxCases + 1, count + count_values(one));
  } else if (value.is_object()) {
    for (const Json& one : value) count = product(count, count_values(one));
  }
  return count;
}

// Runs of the trials of one study of an entry, before its "tune" has been checked.
std::int64_t count_trials(const Json& entry) {
  if (!entry.is_object() || !entry.contains("tune")) return 0;
  const Json& tune = entry.at("tune");
  const TuneSpec usual;
  const auto given = [&](const char* key, std::int64_t fallback) {
    const auto value = number_at(tune, {key}).value_or(static_cast<double>(fallback));
    return static_cast<std::int64_t>(std::clamp(value, 1.0, static_cast<double>(kMaxCases + 1)));
  };
  return count_runs(given("trials", usual.trials), given("eta", usual.eta),
                    rung_epochs(kMaxCases, given("eta", usual.eta)).size());
}

struct AlgorithmCount {
  std::int64_t entries = 0;
  std::int64_t trials = 0;  // runs of them, on one data set
};

AlgorithmCount count_algorithms(const SpecKeys& keys) {
  AlgorithmCount count;
  for (const Json& given : *keys.algorithms) {
    Json plain = given;
    if (plain.is_object()) plain.erase("tune");
    std::int64_t own = count_values(plain);
    const auto inherit = [&](const char* key, const Json* fallback) {
      const bool inherits = fallback != nullptr && !(given.is_object() && given.contains(key));
      if (inherits) own = product(own, count_values(*fallback));
    };
    inherit("schedule", keys.schedule);
    inherit("init", keys.init);
    inherit("stop", keys.stop);
    count.entries = std::min(kMaxCases + 1, count.entries + own);
    count.trials = std::min(kMaxCases + 1, count.trials + product(own, count_trials(given)));
  }
  return count;
}

void check_count(const SpecKeys& keys, std::int64_t data) {
  const std::int64_t seeds = std::ssize(keys.seeds);
  const AlgorithmCount algorithms = count_algorithms(keys);
  const std::int64_t trials = product(data, algorithms.trials);
  if (product(product(seeds, data), algorithms.entries) + trials <= kMaxCases) return;
  const auto text = [](std::int64_t count) {
    return count > kMaxCases ? fmt::format("more than {}", kMaxCases) : fmt::format("{}", count);
  };
  fail(ErrorKind::usage,
       "$: the sweeps give more than {} cases: {} seeds x {} data sets x {} algorithms{}; expected "
       "at most so many, cut the spec into several",
       kMaxCases, text(seeds), text(data), text(algorithms.entries),
       trials == 0 ? "" : fmt::format(" and {} runs of trials", text(trials)));
}

struct DataEntry {
  std::string path;
  DatasetRequest request;
  SplitKeys split;
  Json request_json;  // the entry without its split and its label
};

// Files of parts are a split, whatever the spec says of how to draw one.
void inherit_split(Json& object, const Json& split) {
  object["split"] = split;
  if (!object.contains("train") || !split.is_object()) return;
  for (const char* drawn :
       {"holdout", "leave_out", "folds", "fold", "by_time", "leave_last", "users", "fold_in"}) {
    object["split"].erase(drawn);
  }
}

DataEntry parse_data_entry(const Json& json, const std::string& path, const Json* default_split) {
  Json object = expand_dataset_entry(json, path);
  const bool inherits = object.is_object() && !object.contains("split") && default_split != nullptr;
  if (inherits) inherit_split(object, *default_split);
  JsonReader reader(object, path);
  if (inherits) reader.inherited("split", "$.split");
  const DatasetEntry keys = dataset_form().parse(reader);
  DataEntry entry{path, keys, keys.split, object};
  entry.request_json.erase("split");
  entry.request_json.erase("label");
  if (!entry.request.given.empty()) entry.request_json["given"] = entry.request.given;
  if (entry.request.times) entry.request_json["times"] = true;
  return entry;
}

// One for each fold, if the split names no fold.
std::vector<DataEntry> folds_of(const DataEntry& entry) {
  if (entry.split.kind != SplitSpec::Kind::folds || entry.split.fold) return {entry};
  std::vector<DataEntry> all(static_cast<std::size_t>(entry.split.folds), entry);
  for (std::size_t k = 0; k < all.size(); ++k) all[k].split.fold = static_cast<int>(k) + 1;
  return all;
}

// Keys of the spec that an algorithm entry may override; an entry without its own inherits them,
// and messages then name the place they came from.
using Inherited = std::vector<std::pair<std::string, const Json*>>;

AlgorithmEntry parse_algorithm(const Json& json, const std::string& path,
                               const std::set<std::string>& inherited) {
  JsonReader reader(json, path);
  for (const auto& key : inherited) reader.inherited(key, "$." + key);
  AlgorithmEntry entry;
  entry.path = path;
  return algorithm_form().parse(reader, entry);
}

bool has_validation(const Case& item) {
  return item.split.has_validation() || !item.data.validation.empty();
}

// What its split might say.
const char* usual_validation(const Case& item) {
  return item.split.kind == SplitSpec::Kind::leave_last ? "1" : "0.1";
}

// Who has no learning rate ignores the schedule.
bool watches_by_schedule(const Case& item) {
  return find_algorithm(item.algorithm).uses_learning_rate &&
         item.schedule.kind == ScheduleSpec::Kind::plateau;
}

// Why the case has no such metric, or nothing.
std::optional<std::string> why_no_metric(const Case& item, Metric metric) {
  const Measure measure = metric->measure;
  const bool implicit = is_implicit(item);
  if (measure == Measure::objective && implicit && !has_objective(item)) {
    return fmt::format("{} does not minimize the objective; expected a ranking metric",
                       item.algorithm);
  }
  if (measure == Measure::objective && !implicit) {
    return fmt::format(
        "{} is for explicit ratings; only algorithms for implicit feedback have an "
        "objective",
        item.algorithm);
  }
  if (measure == Measure::ranking && !*item.evaluate.rank) {
    return fmt::format("{} is not computed; add \"ranking\": true to \"evaluate\"", metric.key());
  }
  if (measure == Measure::objective) return std::nullopt;
  if (implicit && measure != Measure::ranking) {
    return fmt::format(
        "{} is for implicit feedback, which has no {}; expected \"objective\" or a ranking metric, "
        "as in {{\"metric\": \"ndcg_100\", \"value\": 0.3}}",
        item.algorithm, measure == Measure::rmse ? "RMSE" : "MAE");
  }
  if (metric->part == MetricPart::validation && !has_validation(item)) {
    return fmt::format(
        "{} is of the validation part, but the split of {} has no such part; add \"validation\": "
        "{} to its split",
        metric.key(), item.data.label(), usual_validation(item));
  }
  if (measure == Measure::ranking) return std::nullopt;
  // For a program that evaluates itself there is no other number.
  const auto& foreign = find_algorithm(item.algorithm).foreign;
  if (foreign && foreign->takes_test && metric != kTestRmse) {
    return fmt::format("{} evaluates itself and says only its test RMSE; found {}", item.algorithm,
                       metric.title());
  }
  return std::nullopt;
}

// Those of the named ones that the case has and is not measured by anyway, each once.
std::vector<Metric> further_metrics(const Case& item, std::vector<Metric> named) {
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  std::erase_if(named, [&](Metric one) {
    const bool errors_of_train = one->part == MetricPart::train && one != kObjective;
    const bool anyway = one.is_ranking() ? one.is_usual() : !errors_of_train;
    return anyway || why_no_metric(item, one).has_value();
  });
  return named;
}

// What rules watch that name nothing: of the validation part, where it can be.
Metric usual_monitor(bool implicit, bool ranks) {
  if (!implicit) return kValidationRmse;
  return ranks ? on_validation(kNdcg100) : kObjective;
}

void resolve_monitors(Case& item) {
  const Metric usual = usual_monitor(is_implicit(item), *item.evaluate.rank);
  for (auto* monitor :
       {&item.schedule.monitor, &item.stop.plateau_monitor, &item.stop.overfitting_monitor}) {
    *monitor = monitor->value_or(usual);
  }
}

Case make_case(const AlgorithmEntry& algorithm, const DataEntry& data, const EvaluateSpec& evaluate,
               std::uint64_t seed) {
  Case item;
  item.path = algorithm.path;
  item.data_path = data.path;
  item.data = data.request;
  item.split = data.split.spec(seed);
  item.algorithm = algorithm.name;
  item.params = algorithm.params;
  item.schedule = algorithm.schedule;
  item.init = algorithm.init;
  item.init.seed = seed;
  item.stop = algorithm.stop;
  // What is computed at once has no second epoch.
  if (find_algorithm(item.algorithm).method == Method::closed_form) {
    item.stop.epochs = std::min<std::int64_t>(item.stop.epochs, 1);
  }
  item.evaluate = evaluate;
  item.evaluate.rank = evaluate.rank.value_or(is_implicit(item));
  item.seed = seed;
  resolve_monitors(item);
  item.evaluate.metrics = further_metrics(item, evaluate.metrics);
  item.resolved = {{"dataset", data.request_json},
                   {"split", item.split.to_json()},
                   {"algorithm", item.algorithm},
                   {"params", item.params.to_json()},
                   {"schedule", item.schedule.to_json()},
                   {"init", to_json(item.init)},
                   {"stop", item.stop.to_json()},
                   {"evaluate", item.evaluate.to_json()},
                   {"seed", seed}};
  item.hash = sha256(canonical(item.resolved));
  return item;
}

void check_metrics(const Case& item) {
  if (is_implicit(item) && !has_objective(item) && !*item.evaluate.rank) {
    fail(ErrorKind::usage,
         "{}: {} has nothing to be judged by but its ranking, and \"evaluate\" says \"ranking\": "
         "false; take one of them out",
         item.path, item.algorithm);
  }
  if (is_sampler(item) && *item.evaluate.rank) {
    fail(ErrorKind::usage,
         "{}: {} is judged by the mean of the predictions of its draws, which ranks no items, and "
         "\"evaluate\" says \"ranking\": true; take one of them out",
         item.path, item.algorithm);
  }
  Problems problems;
  const auto check = [&](const char* key, Metric metric) {
    problems.attempt([&] {
      if (const auto why = why_no_metric(item, metric)) {
        fail(ErrorKind::usage, "{}.{}: {}", item.path, key, *why);
      }
    });
  };
  if (item.stop.target_rmse) check("stop.target_rmse", kTestRmse);
  if (item.stop.target) check("stop.target", item.stop.target->metric);
  for (const auto& [rule, monitor] : watching_rules(item))
    check((rule + ".monitor").c_str(), monitor);
  problems.raise();
  if (item.stop.overfitting_factor == 0) return;
  const Metric unseen = item.stop.overfitting_monitor.value();
  if (unseen->part == MetricPart::train) {
    fail(ErrorKind::usage,
         "{}.stop.overfitting.monitor: found \"{}\", which is of the training part and does not "
         "show it; expected a metric of the test or the validation part",
         item.path, word_of(unseen, MetricUse::monitor));
  }
}

void check_list(const Json& list, const std::string& path) {
  if (list.is_array() && !list.empty()) return;
  fail(ErrorKind::usage, "{}: found {}, expected a list with at least one entry", path,
       describe(list));
}

// Two data sets under one name could not be told apart in results.
void check_labels(const std::vector<DataEntry>& entries) {
  std::map<std::string, std::string> known;
  for (const auto& entry : entries) {
    const std::string label = entry.request.label();
    const std::string data = entry.request.identity();
    if (known.emplace(label, data).first->second == data) continue;
    fail(ErrorKind::usage,
         "{}: another data set of this spec is named \"{}\", too; give one of them a \"label\"",
         entry.path, label);
  }
}

std::vector<DataEntry> read_data(const SpecKeys& keys) {
  Problems problems;
  problems.attempt([&] {
    if (keys.split != nullptr) default_split_form().parse(*keys.split, "$.split");
  });
  const bool has_split = !problems.any();
  std::vector<DataEntry> entries;
  std::int64_t number = 0;
  for (const Json& entry : *keys.datasets) {
    const std::string path = fmt::format("$.datasets[{}]", number++);
    problems.attempt([&] {
      for (const Json& flat : expand_value(entry, path)) {
        problems.attempt([&] {
          const auto folds =
              folds_of(parse_data_entry(flat, path, has_split ? keys.split : nullptr));
          const auto so_far = std::ssize(entries) + std::ssize(folds);
          if (so_far > kMaxCases) check_count(keys, so_far);
          entries.insert(entries.end(), folds.begin(), folds.end());
        });
      }
    });
  }
  problems.raise();
  check_labels(entries);
  return entries;
}

// What no algorithm inherits is not read with one of them.
void check_unused(const SpecKeys& keys) {
  Problems problems;
  const auto check = [&](const Json* json, const std::string& path, const auto& form) {
    if (json == nullptr) return;
    problems.attempt([&] {
      for (const Json& flat : expand_value(*json, path)) form.parse(flat, path);
    });
  };
  check(keys.schedule, "$.schedule", schedule_form());
  check(keys.init, "$.init", init_form());
  check(keys.stop, "$.stop", stop_form());
  problems.raise();
}

// An entry with what it was read from: a trial is the same with other values.
struct GivenAlgorithm {
  AlgorithmEntry entry;
  Json json;                        // without "tune"
  std::set<std::string> inherited;  // keys of the spec in it
};

// Ranges of a search are lists, too, but no sweeps.
std::vector<GivenAlgorithm> expand_algorithm(Json object, const std::string& path,
                                             const std::set<std::string>& inherited) {
  const auto tune = object.find("tune");
  const Json searched = tune == object.end() ? Json() : *tune;
  object.erase("tune");
  std::vector<GivenAlgorithm> all;
  Problems problems;
  for (const Json& plain : expand_sweeps(object, path)) {
    Json whole = plain;
    if (!searched.is_null()) whole["tune"] = searched;
    problems.attempt([&] {
      all.push_back({parse_algorithm(whole, path, inherited), plain, inherited});
    });
  }
  problems.raise();
  return all;
}

std::vector<GivenAlgorithm> read_algorithm_entry(const SpecKeys& keys, const Json& given,
                                                 const std::string& path) {
  const Inherited inheritable = {
      {"schedule", keys.schedule}, {"init", keys.init}, {"stop", keys.stop}};
  Json object = given.is_string() ? Json{{"name", given}} : given;
  if (!object.is_object()) {
    fail(ErrorKind::usage, "{}: found {}, expected an object or a name", path, describe(object));
  }
  std::set<std::string> inherited;
  for (const auto& [key, fallback] : inheritable) {
    if (fallback == nullptr || object.contains(key)) continue;
    object[key] = *fallback;
    inherited.insert(key);
  }
  return expand_algorithm(object, path, inherited);
}

std::vector<GivenAlgorithm> read_algorithms(const SpecKeys& keys) {
  std::vector<GivenAlgorithm> entries;
  Problems problems;
  std::int64_t number = 0;
  for (const Json& given : *keys.algorithms) {
    const std::string path = fmt::format("$.algorithms[{}]", number++);
    problems.attempt([&] {
      for (auto& one : read_algorithm_entry(keys, given, path)) entries.push_back(std::move(one));
    });
  }
  problems.attempt([&] { check_unused(keys); });
  problems.raise();
  return entries;
}

// ---- the validation part ------------------------------------------------------------------------

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

// ---- what is tuned ----------------------------------------------------------------------------

Case make_checked(const AlgorithmEntry& algorithm, const DataEntry& data,
                  const EvaluateSpec& evaluate, std::uint64_t seed) {
  Case item = make_case(algorithm, data, evaluate, seed);
  check_metrics(item);
  return item;
}

// Says in the case what is not known of it.
void mark_searched(Case& item, const TuneSpec& tune) {
  for (const auto& range : tune.over) {
    const bool rate = range.name == "learning_rate";
    item.resolved[rate ? "schedule" : "params"][range.name] = "tuned";
  }
  item.resolved["tune"] = tune.to_json();
  item.hash = sha256(canonical(item.resolved));
}

// What the trials are judged by. A program that evaluates itself is given the validation part then.
Metric metric_of_study(const Case& base, const TuneSpec& tune, const std::string& path) {
  const Metric main = main_metric(base);
  const Metric metric = tune.metric.value_or(main.is_ranking() ? main : on_validation(main));
  if (metric == kObjective) {
    fail(ErrorKind::usage,
         "{}: {} has only the objective, which is of the training part; add \"ranking\": true to "
         "\"evaluate\" for a metric on the validation part",
         path, base.algorithm);
  }
  const auto why = why_no_metric(base, metric == kValidationRmse ? kTestRmse : metric);
  if (why) fail(ErrorKind::usage, "{}.metric: {}", path, *why);
  return metric;
}

void check_study(const Study& study) {
  if (!has_validation(study.base)) {
    fail(ErrorKind::usage,
         "{}: chooses by the validation part, but the split of {} has no such part; add "
         "\"validation\": {} to its split",
         study.path, study.base.data.label(), usual_validation(study.base));
  }
  if (study.base.stop.epochs == 0) {
    fail(ErrorKind::usage, "{}: found 0 in stop.epochs, expected epochs to train for", study.path);
  }
}

// By what decides its trials; more of them, or another eta or budget, are the same study.
std::string study_hash(const Study& study) {
  Json resolved = study.base.resolved;
  const Json tune = resolved.at("tune");
  resolved.erase("tune");
  return sha256(canonical(
      Json{{"case", resolved}, {"over", tune.at("over")}, {"seed", tune.at("seed")}}));
}

Study make_study(const Case& base, const GivenAlgorithm& given, const DataEntry& data,
                 const EvaluateSpec& evaluate) {
  Study study;
  study.base = base;
  study.path = given.entry.path + ".tune";
  study.tune = *given.entry.tune;
  check_study(study);
  study.metric = metric_of_study(base, study.tune, study.path);
  study.rungs = rung_epochs(base.stop.epochs, study.tune.eta);
  study.points = draw_points(study.tune);
  study.make = [given, data, evaluate](const Json& values, std::uint64_t seed) {
    Json object = given.json;
    object.update(values);
    return make_checked(parse_algorithm(object, given.entry.path, given.inherited), data, evaluate,
                        seed);
  };
  for (const Json& point : study.points) study.make(point, base.seed);
  study.name = fmt::format("{}-{}-{}", slug(base.algorithm), slug(base.data.label()),
                           study_hash(study).substr(0, 10));
  return study;
}

void add_study(Spec& spec, Study study) {
  for (const auto& other : spec.studies) {
    if (other.name != study.name) continue;
    fail(ErrorKind::usage, "{}: {} searches the same, with other trials; expected it in one entry",
         study.path, other.path);
  }
  spec.studies.push_back(std::move(study));
}

// "sgd_serial factors=8 on ml-1m": with what differs among the studies of an algorithm.
void label_studies(Spec& spec) {
  std::vector<Case> bases;
  for (const auto& study : spec.studies) bases.push_back(study.base);
  name_cases(bases);
  for (std::size_t i = 0; i < bases.size(); ++i) {
    const SplitSpec& split = bases[i].split;
    const bool folds = split.kind == SplitSpec::Kind::folds;
    spec.studies[i].label = bases[i].name + " on " + bases[i].data_name +
                            (folds ? fmt::format(" fold {}", split.fold) : "");
  }
}

// Alike is what the search is for: a library that was given more is no worse a program.
void warn_of_unequal(Spec& spec, const std::vector<GivenAlgorithm>& algorithms) {
  const GivenAlgorithm* first = nullptr;
  const auto effort = [](const TuneSpec& tune) {
    return fmt::format("{}, eta {}, {}", counted(tune.trials, "trial"), tune.eta,
                       tune.budget_s ? fmt::format("budget_s {}", *tune.budget_s) : "no budget_s");
  };
  for (const auto& given : algorithms) {
    if (!given.entry.tune) continue;
    if (first == nullptr) first = &given;
    const std::string mine = effort(*given.entry.tune), others = effort(*first->entry.tune);
    if (mine == others) continue;
    spec.warnings.push_back(fmt::format("{}.tune has {} and {}.tune {}: they are not tuned alike",
                                        given.entry.path, mine, first->entry.path, others));
  }
}

// The trials see the split of the first seed, in which the test ratings of the others train.
void warn_of_splits(Spec& spec, const SpecKeys& keys, const std::vector<DataEntry>& data) {
  if (keys.seeds.size() < 2 || spec.studies.empty()) return;
  for (const auto& entry : data) {
    const SplitSpec first = entry.split.spec(keys.seeds[0]);
    const bool drawn = first.kind != SplitSpec::Kind::given && !first.needs_times();
    if (!drawn || first.seed == entry.split.spec(keys.seeds[1]).seed) continue;
    spec.warnings.push_back(fmt::format(
        "{}: each repeat has a split of its own, and trials choose on that of seed {}: they see "
        "test ratings of the others; a \"seed\" in the split keeps one test part for all",
        entry.path, keys.seeds[0]));
  }
}

}  // namespace

std::vector<Json> expand_sweeps(const Json& object, const std::string& path) {
  std::vector<Json> all = {Json::object()};
  for (const auto& [key, value] : object.items()) {
    const std::vector<Json> values = expand_value(value, path + "." + key);
    std::vector<Json> next;
    for (const Json& start : all) {
      for (const Json& one : values) {
        next.push_back(start);
        next.back()[key] = one;
      }
      if (std::ssize(next) > kMaxCases) {
        fail(ErrorKind::usage, "{}.{}: the sweeps give more than {} cases", path, key, kMaxCases);
      }
    }
    all = std::move(next);
  }
  return all;
}

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

bool is_implicit(const Case& item) {
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  return info.implicit || info.by_history;
}

bool is_by_history(const Case& item) { return find_algorithm(item.algorithm).by_history; }

bool has_objective(const Case& item) { return minimizes_objective(find_algorithm(item.algorithm)); }

bool is_sampler(const Case& item) { return find_algorithm(item.algorithm).samples; }

bool has_model(const Case& item) { return !is_by_history(item) && !is_sampler(item); }

std::vector<WatchingRule> watching_rules(const Case& item) {
  std::vector<WatchingRule> all;
  const auto add = [&](const char* name, const std::optional<Metric>& monitor) {
    all.push_back({name, monitor.value()});
  };
  if (watches_by_schedule(item)) add("schedule", item.schedule.monitor);
  if (item.stop.plateau_patience > 0) add("stop.plateau", item.stop.plateau_monitor);
  if (item.stop.overfitting_factor > 0) add("stop.overfitting", item.stop.overfitting_monitor);
  return all;
}

std::vector<std::string> rules_on_test(const Case& item) {
  std::vector<std::string> names;
  if (is_trial(item)) return names;
  for (const WatchingRule& rule : watching_rules(item)) {
    if (rule.monitor->part == MetricPart::test) names.push_back(rule.name);
  }
  return names;
}

std::vector<Metric> named_metrics(const Case& item) {
  std::vector<Metric> all;
  for (const WatchingRule& rule : watching_rules(item)) all.push_back(rule.monitor);
  if (item.stop.target) all.push_back(item.stop.target->metric);
  all.insert(all.end(), item.evaluate.metrics.begin(), item.evaluate.metrics.end());
  return all;
}

bool ranks_validation(const Case& item) {
  const RankingSpec spec = ranking_of(item);
  return std::any_of(spec.metrics.begin(), spec.metrics.end(),
                     [](Metric one) { return one->part == MetricPart::validation; });
}

RankingSpec ranking_of(const Case& item) {
  RankingSpec spec = item.evaluate.ranking;
  std::vector<Metric> named = named_metrics(item);
  const Metric main = main_metric(item);
  const bool chooses = main.is_ranking() && has_validation(item) && !is_trial(item);
  if (chooses) named.push_back(on_validation(main));
  for (const Metric one : named) {
    const bool known = std::count(spec.metrics.begin(), spec.metrics.end(), one) > 0;
    if (one.is_ranking() && !known) spec.metrics.push_back(one);
  }
  return spec;
}

Metric error_metric(const Case& item) {
  if (is_implicit(item)) return has_objective(item) ? kObjective : kNdcg100;
  return is_trial(item) ? kValidationRmse : kTestRmse;
}

Metric main_metric(const Case& item) {
  return is_implicit(item) && item.evaluate.rank.value_or(true) ? kNdcg100 : error_metric(item);
}

// A key that came later stands in the JSON only where it is used: hashes of older cases must stay.
Json EvaluateSpec::to_json() const {
  Json json = {{"every", every}, {"train", train}, {"clip", clip}};
  if (user_groups != 0) json["user_groups"] = user_groups;
  if (rank.value_or(false)) json["ranking"] = {{"users", ranking.users}, {"seed", ranking.seed}};
  for (const Metric one : metrics) json["metrics"].push_back(one.key());
  return json;
}

Json to_json(const InitSpec& init) {
  if (init.kind == InitKind::uniform) return {{"kind", "uniform"}};
  return {{"kind", kInitKindNames.of(init.kind)}, {"scale", init.scale}};
}

namespace {

// The target of figures and tables: where both are given, that of any metric.
std::optional<Metric> target_metric(const SpecKeys& keys) {
  if (keys.target) return keys.target->metric;
  return keys.target_rmse ? std::optional(kTestRmse) : std::nullopt;
}

// What no case has is a mistake; beside others that do, a case without the metric is shown as one
// that missed the target.
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

// What cases are made of.
struct SpecParts {
  SpecKeys keys;
  std::vector<DataEntry> data;
  std::vector<GivenAlgorithm> algorithms;
};

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
  const bool has_data = is_list(keys.datasets, "$.datasets");
  const bool has_algorithms = is_list(keys.algorithms, "$.algorithms");
  if (has_data && has_algorithms &&
      !problems.attempt([&] { check_count(keys, count_values(*keys.datasets)); })) {
    problems.raise();  // before any is made: it might not fit the memory
  }
  if (has_data) problems.attempt([&] { parts.data = read_data(keys); });
  if (has_algorithms) problems.attempt([&] { check_count(keys, std::ssize(parts.data)); });
  if (has_algorithms && problems.attempt([&] { parts.algorithms = read_algorithms(keys); })) {
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
