#include "harness/spec/spec.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "datasets/dataset_entry.hpp"
#include "harness/spec/case_names.hpp"
#include "harness/spec/spec_forms.hpp"

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

std::int64_t count_algorithms(const SpecKeys& keys) {
  std::int64_t count = 0;
  for (const Json& given : *keys.algorithms) {
    std::int64_t own = count_values(given);
    const auto inherit = [&](const char* key, const Json* fallback) {
      const bool inherits = fallback != nullptr && !(given.is_object() && given.contains(key));
      if (inherits) own = product(own, count_values(*fallback));
    };
    inherit("schedule", keys.schedule);
    inherit("init", keys.init);
    inherit("stop", keys.stop);
    count = std::min(kMaxCases + 1, count + own);
  }
  return count;
}

// Before anything is expanded: what is refused here might not fit the memory.
void check_count(const SpecKeys& keys) {
  const std::int64_t seeds = std::ssize(keys.seeds);
  const std::int64_t data = count_values(*keys.datasets);
  const std::int64_t algorithms = count_algorithms(keys);
  if (product(product(seeds, data), algorithms) <= kMaxCases) return;
  const auto text = [](std::int64_t count) {
    return count > kMaxCases ? fmt::format("more than {}", kMaxCases) : fmt::format("{}", count);
  };
  fail(ErrorKind::usage,
       "$: the sweeps give more than {} cases: {} seeds x {} data sets x {} algorithms; expected "
       "at most so many, cut the spec into several",
       kMaxCases, text(seeds), text(data), text(algorithms));
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
  for (const char* drawn : {"holdout", "leave_out", "users", "fold_in"}) {
    object["split"].erase(drawn);
  }
}

DataEntry parse_data_entry(const Json& json, const std::string& path, const Json* default_split) {
  Json object = expand_dataset_entry(json, path);
  const bool inherits = object.is_object() && !object.contains("split") && default_split != nullptr;
  if (inherits) inherit_split(object, *default_split);
  JsonReader reader(object, path);
  if (inherits) reader.inherited("split", "$.split");
  DatasetEntry keys;
  dataset_form().read(reader, keys);
  reader.finish();
  DataEntry entry{path, keys, keys.split, object};
  entry.request_json.erase("split");
  entry.request_json.erase("label");
  if (!entry.request.given.empty()) entry.request_json["given"] = entry.request.given;
  return entry;
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
  algorithm_form().read(reader, entry);
  reader.finish();
  return entry;
}

Case make_case(const AlgorithmEntry& algorithm, const DataEntry& data, const EvaluateSpec& evaluate,
               std::uint64_t seed) {
  Case item;
  item.path = algorithm.path;
  item.data = data.request;
  item.split = data.split.spec(seed);
  item.algorithm = algorithm.name;
  item.params = algorithm.params;
  item.schedule = algorithm.schedule;
  item.init = algorithm.init;
  item.init.seed = seed;
  item.stop = algorithm.stop;
  item.evaluate = evaluate;
  item.evaluate.rank = evaluate.rank.value_or(is_implicit(item));
  item.seed = seed;
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

void check_monitors(const Case& item) {
  const bool validation = item.split.validation_fraction > 0 || !item.data.validation.empty();
  const auto check = [&](Monitor monitor, const char* key) {
    if (monitor == Monitor::validation && !validation) {
      fail(ErrorKind::usage,
           "{}.{}.monitor: watches the validation part, but the split of {} has none; add "
           "\"validation\": 0.1 to its split",
           item.path, key, item.data.label());
    }
  };
  check(item.schedule.monitor, "schedule");
  if (item.stop.plateau_patience > 0) check(item.stop.plateau_monitor, "stop.plateau");
  if (item.stop.overfitting_factor == 0) return;
  const Monitor unseen = item.stop.overfitting_monitor;
  check(unseen, "stop.overfitting");
  if (unseen == Monitor::train || unseen == Monitor::objective) {
    fail(ErrorKind::usage,
         "{}.stop.overfitting.monitor: found \"{}\", which is of the training part and does not "
         "show it; expected test, validation or a ranking metric",
         item.path, to_string(unseen));
  }
}

// Why the case has no such metric, or nothing.
std::optional<std::string> why_no_metric(const Case& item, Metric metric) {
  const bool implicit = is_implicit(item);
  if (metric == Metric::test_rmse && implicit) {
    return fmt::format(
        "{} is for implicit feedback, which has no RMSE; ask for \"objective\" or a "
        "ranking metric: recall_20, recall_50, ndcg_100, map_10",
        item.algorithm);
  }
  if (metric == Metric::objective && !implicit) {
    return fmt::format(
        "{} is for explicit ratings; algorithms for implicit feedback alone have an "
        "objective",
        item.algorithm);
  }
  if (is_ranking(metric) && !*item.evaluate.rank) {
    return fmt::format("{} is not computed; add \"ranking\": true to \"evaluate\"",
                       kMetricNames.of(metric));
  }
  return std::nullopt;
}

void check_metrics(const Case& item) {
  const auto check = [&](const std::string& key, Metric metric) {
    if (const auto why = why_no_metric(item, metric)) {
      fail(ErrorKind::usage, "{}.{}: {}", item.path, key, *why);
    }
  };
  if (item.stop.target_rmse && is_implicit(item)) {
    fail(ErrorKind::usage,
         "{}.stop.target_rmse: {} is for implicit feedback, which has no RMSE; expected "
         "\"target\": {{\"metric\": \"ndcg_100\", \"value\": 0.3}}",
         item.path, item.algorithm);
  }
  if (item.stop.target) check("stop.target", item.stop.target->metric);
  const auto of = [](Monitor monitor) { return metric_of(monitor).value_or(Metric::test_rmse); };
  // Who has no learning rate ignores the schedule.
  const bool scheduled = find_algorithm(item.algorithm).uses_learning_rate;
  if (scheduled && item.schedule.kind == ScheduleSpec::Kind::plateau) {
    check("schedule.monitor", of(item.schedule.monitor));
  }
  if (item.stop.plateau_patience > 0) check("stop.plateau.monitor", of(item.stop.plateau_monitor));
  if (item.stop.overfitting_factor > 0) {
    check("stop.overfitting.monitor", of(item.stop.overfitting_monitor));
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

// The results go into a folder of this name: below that of all results whatever the name is, and
// not that of another name where a part of this one cannot be in it.
std::string folder_name(const std::string& name) {
  constexpr std::size_t kLongest = 60;  // of slug()
  const std::string folder = slug(name);
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  const auto ascii = [](char c) { return c >= 0x20 && c < 0x7f; };
  const std::string mark = sha256(name).substr(0, 8);
  if (std::none_of(folder.begin(), folder.end(), letter)) return "spec-" + mark;
  if (std::all_of(name.begin(), name.end(), ascii) && name.size() <= kLongest) return folder;
  return folder.substr(0, kLongest - mark.size() - 1) + "-" + mark;
}

std::vector<DataEntry> read_data(const SpecKeys& keys) {
  if (keys.split != nullptr) default_split_form().parse(*keys.split, "$.split");
  std::vector<DataEntry> entries;
  std::int64_t number = 0;
  for (const Json& entry : *keys.datasets) {
    const std::string path = fmt::format("$.datasets[{}]", number++);
    for (const Json& flat : expand_value(entry, path)) {
      entries.push_back(parse_data_entry(flat, path, keys.split));
    }
  }
  check_labels(entries);
  return entries;
}

// What no algorithm inherits is not read with one of them.
void check_unused(const SpecKeys& keys) {
  const auto check = [](const Json* json, const std::string& path, const auto& form) {
    if (json == nullptr) return;
    for (const Json& flat : expand_value(*json, path)) form.parse(flat, path);
  };
  check(keys.schedule, "$.schedule", schedule_form());
  check(keys.init, "$.init", init_form());
  check(keys.stop, "$.stop", stop_form());
}

std::vector<AlgorithmEntry> read_algorithms(const SpecKeys& keys) {
  const Inherited inheritable = {
      {"schedule", keys.schedule}, {"init", keys.init}, {"stop", keys.stop}};
  std::vector<AlgorithmEntry> entries;
  std::int64_t number = 0;
  for (const Json& given : *keys.algorithms) {
    const std::string path = fmt::format("$.algorithms[{}]", number++);
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
    for (const Json& flat : expand_sweeps(object, path)) {
      entries.push_back(parse_algorithm(flat, path, inherited));
    }
  }
  check_unused(keys);
  return entries;
}

void check_baseline(const Spec& spec, const std::vector<AlgorithmEntry>& algorithms) {
  if (spec.baseline.empty()) return;
  std::vector<std::string> names;
  for (const auto& entry : algorithms) names.push_back(entry.name);
  if (std::find(names.begin(), names.end(), spec.baseline) != names.end()) return;
  const std::string near = nearest(spec.baseline, names);
  fail(ErrorKind::usage, "$.baseline: \"{}\" is not among the algorithms of this spec{}",
       spec.baseline, near.empty() ? "" : "; did you mean \"" + near + "\"?");
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

bool is_implicit(const Case& item) {
  return static_cast<bool>(find_algorithm(item.algorithm).implicit);
}

Metric main_metric(const Case& item) {
  if (!is_implicit(item)) return Metric::test_rmse;
  return item.evaluate.rank.value_or(true) ? Metric::ndcg_100 : Metric::objective;
}

// A key that came later stands in the JSON only where it is used: hashes of older cases must stay.
Json EvaluateSpec::to_json() const {
  Json json = {{"every", every}, {"train", train}, {"clip", clip}};
  if (user_groups != 0) json["user_groups"] = user_groups;
  if (rank.value_or(false)) json["ranking"] = {{"users", ranking.users}, {"seed", ranking.seed}};
  return json;
}

Json to_json(const InitSpec& init) {
  if (init.kind == InitKind::uniform) return {{"kind", "uniform"}};
  return {{"kind", kInitKindNames.of(init.kind)}, {"scale", init.scale}};
}

Spec parse_spec(const Json& json, const std::string& file) {
  Spec spec;
  spec.source = json;
  spec.hash = sha256(canonical(json));
  SpecKeys start;
  start.name = std::filesystem::path(file).stem().string();
  const SpecKeys keys = spec_form().parse(json, "$", start);
  spec.name = folder_name(keys.name.empty() ? start.name : keys.name);
  spec.description = keys.description;
  spec.baseline = keys.baseline;
  spec.target_rmse = keys.target_rmse;
  spec.target = keys.target;
  spec.save_model = keys.save_model;
  check_list(*keys.datasets, "$.datasets");
  check_list(*keys.algorithms, "$.algorithms");
  check_count(keys);
  const auto data = read_data(keys);
  const auto algorithms = read_algorithms(keys);
  check_baseline(spec, algorithms);

  std::set<std::string> seen;
  for (const auto seed : keys.seeds) {
    for (const auto& entry : data) {
      for (const auto& algorithm : algorithms) {
        Case item = make_case(algorithm, entry, keys.evaluate, seed);
        check_monitors(item);
        check_metrics(item);
        if (seen.insert(item.hash).second) spec.cases.push_back(std::move(item));
      }
    }
  }
  name_cases(spec.cases);
  return spec;
}

Spec read_spec(const std::string& path) {
  const Json json = read_json_file(path);
  try {
    return parse_spec(json, path);
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", path, error.what());
  }
}

}  // namespace mf
