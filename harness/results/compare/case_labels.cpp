#include "harness/results/compare/case_labels.hpp"

#include <algorithm>
#include <utility>

namespace mf {
namespace {

const std::string kSize = "params.factors";  // always shown, and first

std::string value_or_any(const Configuration& configuration, const std::string& name) {
  const auto at = configuration.find(name);
  return at == configuration.end() ? "any" : plain_text(at->second);
}

std::string last_word(const std::string& name) { return name.substr(name.rfind('.') + 1); }

std::string short_name(const std::string& name, const std::set<std::string>& shown) {
  const std::string word = last_word(name);
  const auto alike = std::count_if(shown.begin(), shown.end(), [&](const std::string& other) {
    return last_word(other) == word;
  });
  return alike > 1 || word == "kind" ? name : word;
}

}  // namespace

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

CaseLabels::CaseLabels(const std::vector<const ComparedCase*>& cases) {
  const std::string absent = "absent";
  std::map<std::string, std::set<std::string>> names;  // by algorithm
  for (const auto* one : cases) {
    auto& own = names[value_or_any(one->configuration, "algorithm")];
    for (const auto& [name, value] : one->configuration) own.insert(name);
  }
  // By algorithm and data set: name, and the values it has there.
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::set<std::string>>> seen;
  for (const auto* one : cases) {
    const std::string algorithm = value_or_any(one->configuration, "algorithm");
    auto& values = seen[{algorithm, value_or_any(one->configuration, "dataset")}];
    for (const auto& name : names[algorithm]) {
      const auto at = one->configuration.find(name);
      values[name].insert(at == one->configuration.end() ? absent : at->second.dump());
    }
  }
  for (const auto& [group, values] : seen) {
    auto& shown = shown_[group.first];
    for (const auto& [name, found] : values) {
      if (found.size() > 1 || name == kSize) shown.insert(name);
    }
  }
}

std::string CaseLabels::of(const Configuration& configuration) const {
  std::string label = value_or_any(configuration, "algorithm");
  const auto shown = shown_.find(label);
  if (shown == shown_.end()) return label + " on " + value_or_any(configuration, "dataset");
  const auto add = [&](const std::string& name) {
    const auto at = configuration.find(name);
    if (at == configuration.end()) return;
    label += " " + short_name(name, shown->second) + "=" + plain_text(at->second);
  };
  add(kSize);
  for (const auto& name : shown->second) {
    if (name != kSize) add(name);
  }
  return label + " on " + value_or_any(configuration, "dataset");
}

}  // namespace mf
