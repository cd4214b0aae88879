#include "harness/experiment/frozen_targets.hpp"

#include "base/json/json.hpp"
#include "base/json/json_values.hpp"

namespace mf {

extern const std::string kTargetsJson;  // targets.json, embedded by the build

namespace {

const Json& file() {
  static const Json json = parse_json(kTargetsJson, "targets.json");
  return json;
}

// A validation part takes training ratings, but leaves the test part as it is.
bool is_of(const Json& set, const std::string& dataset, const Json& split) {
  if (set.at("dataset") != dataset) return false;
  for (const auto& [key, value] : set.at("split").items()) {
    if (value_at(split, {key.c_str()}) != value) return false;
  }
  return true;
}

}  // namespace

std::optional<FrozenTargets> frozen_targets(const std::string& dataset, const Json& split) {
  for (const Json& set : file().at("sets")) {
    if (!is_of(set, dataset, split)) continue;
    FrozenTargets targets;
    targets.metric = find_metric(set.at("metric").get<std::string>()).value();
    targets.chosen.fill(text_at(set, {"chosen"}).value_or(""));
    if (text_at(set, {"named_by"})) targets.chosen[0] = "named";
    for (std::size_t level = 0; level < kTargetLevels.size(); ++level) {
      targets.values[level] = set.at(std::string(kTargetLevels[level])).get<double>();
    }
    return targets;
  }
  return std::nullopt;
}

Json frozen_targets_json() { return file(); }

}  // namespace mf
