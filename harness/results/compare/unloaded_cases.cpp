#include "harness/results/compare/unloaded_cases.hpp"

#include <set>

namespace mf {
namespace {

constexpr const char* kContent = "dataset.content_hash";

bool is_unloaded(const ComparedCase& one) {
  const auto content = one.configuration.find(kContent);
  return content == one.configuration.end() || content->second.is_null();
}

Configuration known_before_loading(const Configuration& all) {
  Configuration known;
  for (const auto& [name, value] : all) {
    if (name != kContent && !name.starts_with("split")) known[name] = value;
  }
  return known;
}

}  // namespace

void place_unloaded(const std::vector<ComparedCase*>& cases) {
  for (ComparedCase* one : cases) {
    if (!is_unloaded(*one)) continue;
    const Configuration known = known_before_loading(one->configuration);
    std::set<Configuration> found;
    std::set<Json> splits;  // seeds of the split, of its repeat
    for (const ComparedCase* other : cases) {
      if (is_unloaded(*other) || known_before_loading(other->configuration) != known) continue;
      found.insert(other->configuration);
      if (other->repeat.first == one->repeat.first) splits.insert(other->repeat.second);
    }
    if (found.size() != 1) continue;
    one->configuration = *found.begin();
    if (splits.size() == 1) one->repeat.second = *splits.begin();
  }
}

}  // namespace mf
