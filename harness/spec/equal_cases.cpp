#include "harness/spec/equal_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/spec/spec.hpp"

namespace mf {
namespace {

// A list's elements as cases see them: objects by what they expand to, lists in lists as one.
std::vector<Json> elements(const Json& list, const std::string& path) {
  std::vector<Json> all;
  for (const Json& one : list) {
    const auto found = one.is_array()    ? elements(one, path)
                       : one.is_object() ? expand_sweeps(one, path)
                                         : std::vector<Json>{one};
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

void look_into(const Json& value, const std::string& path, std::vector<std::string>& warnings) {
  if (value.is_object()) {
    for (const auto& [key, one] : value.items()) {
      if (key != "tune") look_into(one, path + "." + key, warnings);
    }
    return;
  }
  if (!value.is_array()) return;
  std::set<Json> known;
  for (const Json& one : elements(value, path)) {
    const auto [first, is_new] = known.insert(one);
    if (is_new) continue;
    warnings.push_back(
        fmt::format("{}: some of its cases are equal: {} stands there twice", path, first->dump()));
    break;
  }
  for (const Json& one : value) {
    if (one.is_structured()) look_into(one, path, warnings);
  }
}

// Cases of one entry that are those of another, or of itself.
struct Repeated {
  std::int64_t cases = 0;
  std::int64_t repeated = 0;
  std::set<std::string> of;  // the entries that had them first
};

// Whether one of the lists that were told of is the entry's, or the spec's for all entries.
bool is_told(const std::string& path, const std::vector<std::string>& told) {
  const std::string list = path.substr(0, path.find('['));
  return std::any_of(told.begin(), told.end(), [&](const auto& warning) {
    return warning.starts_with(path) || !warning.starts_with(list);
  });
}

std::string repeat_warning(const std::string& path, const Repeated& one) {
  if (one.of.count(path) != 0) return path + ": some of its cases are equal";
  const std::string others = fmt::format("{}", fmt::join(one.of, " and "));
  if (one.repeated == one.cases) return path + " says nothing: its cases are those of " + others;
  return path + ": some of its cases are equal to those of " + others;
}

}  // namespace

std::vector<std::string> equal_elements(const Json& value, const std::string& path) {
  std::vector<std::string> warnings;
  look_into(value, path, warnings);
  return warnings;
}

std::vector<std::string> equal_entries(const std::vector<ExpandedEntry>& entries,
                                       const std::vector<std::string>& told) {
  std::map<Json, std::string> first;
  std::vector<std::pair<std::string, Repeated>> found;
  for (const auto& [path, resolved] : entries) {
    if (found.empty() || found.back().first != path) found.emplace_back(path, Repeated{});
    Repeated& one = found.back().second;
    ++one.cases;
    const auto [at, is_new] = first.emplace(resolved, path);
    if (is_new || (at->second == path && is_told(path, told))) continue;
    ++one.repeated;
    one.of.insert(at->second);
  }
  std::vector<std::string> warnings;
  for (const auto& [path, one] : found) {
    if (one.repeated > 0) warnings.push_back(repeat_warning(path, one));
  }
  return warnings;
}

}  // namespace mf
