#include "harness/spec/idle_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "algorithms/core/registry.hpp"

namespace mf {
namespace {

using Entry = std::span<const GivenParams>;

// What an entry gives for one parameter, and why that says nothing.
struct Idle {
  std::set<Json> values;
  bool searched = false;
  std::string why;  // of the first case in which it says nothing
  bool everywhere = true;
};

// Nothing is known where what the parameter hangs on is searched for, too.
std::string why_idle_in(const GivenParams& one, const ParamSpec& spec) {
  for (const auto& [other, values] : spec.conditions) {
    if (one.searched.count(other) != 0) return {};
  }
  return why_idle(spec, *one.params);
}

Idle idle_in(const ParamSpec& spec, Entry entry) {
  Idle idle;
  for (const auto& one : entry) {
    const auto given = one.given.find(spec.name);
    const bool searched = one.searched.count(spec.name) != 0;
    if (given == one.given.end() && !searched) continue;
    if (given != one.given.end()) idle.values.insert(*given);
    idle.searched = searched;
    const std::string why = why_idle_in(one, spec);
    if (why.empty()) idle.everywhere = false;
    if (idle.why.empty()) idle.why = why;
  }
  return idle;
}

bool is_default(const ParamSpec& spec, const Json& value) {
  return std::visit([&](const auto& fallback) { return value == Json(fallback); }, spec.fallback);
}

void warn_of(const ParamSpec& spec, Entry entry, std::vector<std::string>& warnings) {
  const Idle idle = idle_in(spec, entry);
  if (idle.why.empty()) return;
  const std::string key = entry[0].path + (idle.searched ? ".tune.over." : ".") + spec.name;
  if (idle.values.size() > 1) {
    warnings.push_back(fmt::format("{}: some of its cases are equal: it {}", key, idle.why));
  } else if (idle.everywhere && (idle.searched || !is_default(spec, *idle.values.begin()))) {
    warnings.push_back(fmt::format("{} says nothing: it {}", key, idle.why));
  }
}

}  // namespace

std::vector<std::string> idle_keys(const std::vector<GivenParams>& cases) {
  std::vector<std::string> warnings;
  for (auto first = cases.begin(); first != cases.end();) {
    const auto last =
        std::find_if(first, cases.end(), [&](const auto& one) { return one.path != first->path; });
    const Entry entry(first, last);
    for (const ParamSpec& spec : find_algorithm(first->algorithm).params) {
      warn_of(spec, entry, warnings);
    }
    first = last;
  }
  return warnings;
}

}  // namespace mf
