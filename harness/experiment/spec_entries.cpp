#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/problems.hpp"
#include "datasets/dataset_entry.hpp"
#include "harness/experiment/spec_parts.hpp"

namespace mf {
namespace {

void check_sweeps(std::int64_t count, const std::string& path) {
  if (count <= kMaxCases) return;
  fail(ErrorKind::usage, "{}: the sweeps give more than {} cases", path, kMaxCases);
}

// A scalar stands for itself; lists, also those in lists, for their elements.
std::vector<Json> expand_value(const Json& value, const std::string& path) {
  if (value.is_object()) return expand_sweeps(value, path);
  if (!value.is_array()) return {value};
  if (value.empty()) fail(ErrorKind::usage, "{}: an empty list sweeps over nothing", path);
  std::vector<Json> all;
  for (const auto& element : value) {
    for (auto& expanded : expand_value(element, path)) all.push_back(std::move(expanded));
    check_sweeps(std::ssize(all), path);
  }
  return all;
}

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
  if (entry.split.kind != SplitSpec::Kind::folds || entry.split.one_fold) return {entry};
  std::vector<DataEntry> all(static_cast<std::size_t>(entry.split.folds), entry);
  for (std::size_t k = 0; k < all.size(); ++k) all[k].split.one_fold = static_cast<int>(k) + 1;
  return all;
}

// Keys of the spec that an algorithm entry may override; an entry without its own inherits them,
// and messages then name the place they came from.
using Inherited = std::vector<std::pair<std::string, const Json*>>;

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

// Checks the keys of the spec that no algorithm inherits, because no entry reads them.
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
      check_sweeps(std::ssize(next), path + "." + key);
    }
    all = std::move(next);
  }
  return all;
}

AlgorithmEntry parse_algorithm(const Json& json, const std::string& path,
                               const std::set<std::string>& inherited) {
  JsonReader reader(json, path);
  for (const auto& key : inherited) reader.inherited(key, "$." + key);
  AlgorithmEntry entry;
  entry.path = path;
  return algorithm_form().parse(reader, entry);
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
          entries.insert(entries.end(), folds.begin(), folds.end());
        });
        check_sweeps(std::ssize(entries), path);
      }
    });
  }
  problems.raise();
  check_labels(entries);
  return entries;
}

std::vector<GivenAlgorithm> read_algorithms(const SpecKeys& keys) {
  std::vector<GivenAlgorithm> entries;
  Problems problems;
  std::int64_t number = 0;
  for (const Json& given : *keys.algorithms) {
    const std::string path = fmt::format("$.algorithms[{}]", number++);
    problems.attempt([&] {
      for (auto& one : read_algorithm_entry(keys, given, path)) entries.push_back(std::move(one));
      check_sweeps(std::ssize(entries), path);
    });
  }
  problems.attempt([&] { check_unused(keys); });
  problems.raise();
  return entries;
}

}  // namespace mf
