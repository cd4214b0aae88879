#include "harness/experiment/idle_keys.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/core/registry.hpp"

namespace mf {
namespace {

// Nothing is known where what the parameter hangs on is searched for, too.
std::string why_idle_in(const GivenParams& one, const ParamSpec& spec) {
  for (const auto& [other, values] : spec.conditions) {
    if (one.searched.count(other) != 0) return {};
  }
  const std::string why = why_idle(spec, *one.params);
  return why.empty() ? "" : "it " + why;
}

// A default that is given says nothing wrong.
bool gives(const GivenParams& one, const ParamSpec& spec) {
  const auto given = one.given.find(spec.name);
  return given != one.given.end() &&
         std::visit([&](const auto& value) { return *given != Json(value); }, spec.fallback);
}

}  // namespace

std::vector<std::string> idle_keys(const std::vector<GivenParams>& cases) {
  std::vector<std::pair<std::string, std::string>> found;  // keys and why; empty: it counts
  const auto note = [&](const std::string& key, const std::string& why) {
    const auto at = std::find_if(found.begin(), found.end(),
                                 [&](const auto& other) { return other.first == key; });
    if (at == found.end()) {
      found.emplace_back(key, why);
    } else if (why.empty()) {
      at->second.clear();
    }
  };
  for (const auto& one : cases) {
    const AlgorithmInfo& info = find_algorithm(one.algorithm);
    for (const ParamSpec& spec : info.params) {
      const bool searched = one.searched.count(spec.name) != 0;
      if (!searched && !gives(one, spec)) continue;
      note(one.path + (searched ? ".tune.over." : ".") + spec.name, why_idle_in(one, spec));
    }
    for (const char* key : {"learning_rate", "schedule"}) {
      if (!one.given.contains(key) || one.inherited.count(key) != 0) continue;
      note(one.path + "." + key,
           info.uses_learning_rate ? "" : info.name + " has no learning rate");
    }
  }
  std::vector<std::string> warnings;
  for (const auto& [key, why] : found) {
    if (!why.empty()) warnings.push_back(key + " says nothing: " + why);
  }
  return warnings;
}

}  // namespace mf
