#include "harness/spec/idle_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "algorithms/core/registry.hpp"
#include "harness/spec/schedule.hpp"

namespace mf {
namespace {

constexpr const char* kScheduleKey = "schedule";
constexpr const char* kRateKey = "learning_rate";

bool has_rate(const GivenParams& one) { return find_algorithm(one.algorithm).uses_learning_rate; }

// By its path and name: an entry may sweep over names, too.
using NamedEntry = std::pair<std::string, std::string>;

// What an entry without a learning rate gives for one key.
struct Unused {
  std::set<Json> values;
  bool inherited = false;
};

// In the order of the spec, which that of paths is not: [10] would stand before [2].
std::vector<NamedEntry> entries_without_rate(const std::vector<GivenParams>& cases) {
  std::vector<NamedEntry> entries;
  for (const auto& one : cases) {
    const NamedEntry entry{one.path, one.algorithm};
    if (has_rate(one) || std::find(entries.begin(), entries.end(), entry) != entries.end())
      continue;
    entries.push_back(entry);
  }
  return entries;
}

Unused unused_in(const std::vector<GivenParams>& cases, const NamedEntry& entry, const char* key) {
  Unused unused;
  for (const auto& one : cases) {
    if (NamedEntry{one.path, one.algorithm} != entry || !one.given.contains(key)) continue;
    unused.values.insert(one.given.at(key));
    unused.inherited = one.inherited.count(key) != 0;
  }
  return unused;
}

// A default that is given says nothing wrong.
bool is_usual(const Json& value) {
  const ScheduleSpec usual;
  const Json schedule = value.is_object() ? value : Json{{kRateKey, value}};
  return parse_schedule(schedule, "$").to_json() == usual.to_json();
}

// Another algorithm of the same entry, or of those that inherit, takes what this one does not.
bool others_use(const std::vector<GivenParams>& cases, const std::string& path, const char* key,
                bool inherited) {
  return std::any_of(cases.begin(), cases.end(), [&](const auto& one) {
    const bool takes = inherited ? one.inherited.count(key) != 0 : one.path == path;
    return takes && has_rate(one);
  });
}

std::string schedule_warning(const std::vector<GivenParams>& cases, const NamedEntry& entry,
                             const char* key) {
  const auto& [path, algorithm] = entry;
  const Unused unused = unused_in(cases, entry, key);
  if (unused.values.empty()) return {};
  if (unused.values.size() > 1) {
    const std::string place = unused.inherited ? fmt::format("$.{}", key) : path + "." + key;
    const std::string whose = unused.inherited ? "the cases of " + path : "its cases";
    return fmt::format("{}: some of {} are equal: {} has no learning rate", place, whose,
                       algorithm);
  }
  if (others_use(cases, path, key, unused.inherited) || is_usual(*unused.values.begin())) {
    return {};
  }
  if (unused.inherited) {
    return fmt::format("$.{} says nothing: no algorithm that takes it has a learning rate", key);
  }
  return fmt::format("{}.{} says nothing: {} has no learning rate", path, key, algorithm);
}

}  // namespace

std::vector<std::string> idle_schedules(const std::vector<GivenParams>& cases) {
  std::vector<std::string> warnings;
  for (const auto& entry : entries_without_rate(cases)) {
    for (const char* key : {kRateKey, kScheduleKey}) {
      const std::string warning = schedule_warning(cases, entry, key);
      const bool known = std::find(warnings.begin(), warnings.end(), warning) != warnings.end();
      if (!warning.empty() && !known) warnings.push_back(warning);
    }
  }
  return warnings;
}

}  // namespace mf
