#include "harness/results/compare/compared_folder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

// ---- cases and their configurations ------------------------------------------------------------

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

std::string commit_of(const Json& environment) {
  const std::string sha = text_at(environment, {"git_sha"}).value_or("?").substr(0, 9);
  const Json& dirty = value_at(environment, {"git_dirty"});
  return sha + (dirty.is_boolean() && dirty.get<bool>() ? " with changes" : "");
}

// ", memory interleave"; empty for the kernel's default.
std::string memory_of(const Json& header) {
  const std::string memory = text_at(header, {"placement", "memory"}).value_or("first-touch");
  return memory == "first-touch" ? "" : ", memory " + memory;
}

std::string machine_of(const Json& header) {
  const Json& environment = value_at(header, {"environment"});
  const auto gpu = text_at(environment, {"gpu"});
  if (gpu && text_at(header, {"algorithm", "hardware"}) == "cuda") return *gpu;
  const std::string cpu = text_at(environment, {"cpu"}).value_or("?");
  const auto cores = integer_at(environment, {"cores"});
  return (cores ? fmt::format("{}, {} cores", cpu, *cores) : cpu) + memory_of(header);
}

// Why a file is not a result, or empty.
std::optional<std::string> why_left_out(const ResultFile& file) {
  if (file.damage) return "damaged";
  if (!file.finished()) return "unfinished";
  if (!value_at(file.header, {"profile"}).is_null())
    return "a profiled run, whose times are no results";
  if (!value_at(file.header, {"trial"}).is_null()) return "a trial of a study, which is no case";
  if (!integer_at(file.header, {"seed"})) return "its header has no \"seed\"";
  return std::nullopt;
}

bool is_named(const std::string& key, const std::string& name) {
  return key == name || (key.size() > name.size() && key.compare(0, name.size(), name) == 0 &&
                         key[name.size()] == '.');
}

// An edited target touches no finished case: it counts for all cases of the spec, as in the summary
// of `run`. Without a spec.json it comes from their headers.
std::optional<TargetSpec> target_of(const ResultFile& file, const Json& spec) {
  if (!spec.is_object() || !spec.contains("target_rmse")) return named_target(file.header);
  return named_target({{"target_rmse", value_at(spec, {"target_rmse"})},
                       {"target", value_at(spec, {"spec", "target"})}});
}

// Runs that failed before their data were loaded: their headers name only the data set.
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

std::string card_of(const Json& header) {
  return text_at(header, {"environment", "gpu"}).value_or(machine_of(header));
}

// Results of an earlier spec of the same name stay in its folder: they are not part of this run, as
// for the figures and the export.
void visit_listed_results(const std::string& path, const TakeStored& take) {
  std::optional<std::set<std::string>> listed;
  bool begun = false;
  int dropped = 0;
  visit_stored_results(path, [&](StoredCase one, const StoredSpec& beside) {
    if (!std::exchange(begun, true)) {
      if (const auto names = beside.listed()) listed.emplace(names->begin(), names->end());
    }
    if (listed && listed->count(one.name()) == 0) {
      ++dropped;
    } else {
      take(std::move(one), beside);
    }
  });
  if (dropped == 0) return;
  note("{}: left out: {} that spec.json does not list", path, counted(dropped, "case"));
}

void take_case(const StoredCase& stored, const StoredSpec& beside,
               const std::optional<TargetSpec>& asked, ComparedFolder& folder) {
  ++folder.summary.files;
  const ResultFile& file = stored.file;
  warn_of_damage(file, "it is left out");
  if (const auto why = why_left_out(file)) {
    folder.summary.left_out.push_back(stored.name() + ".jsonl: " + *why);
    return;
  }
  auto one = compared_case(stored.path, file, asked ? asked : target_of(file, beside.spec));
  if (!one) return;
  add_once(folder.summary.commits, commit_of(value_at(file.header, {"environment"})));
  add_once(folder.summary.machines, machine_of(file.header));
  folder.summary.origins.add(one->origin);
  folder.cases.push_back(std::move(*one));
}

// ---- which go together -----------------------------------------------------------------------

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

void drop_ignored(const std::vector<std::string>& names, const std::vector<ComparedCase*>& cases) {
  std::set<std::string> known;
  for (const auto* one : cases) {
    for (const auto& [key, value] : one->configuration) known.insert(key);
  }
  for (const auto& name : names) {
    const auto fits = [&](const std::string& key) { return is_named(key, name); };
    if (std::none_of(known.begin(), known.end(), fits)) {
      const std::string near = nearest(name, {known.begin(), known.end()});
      fail(ErrorKind::usage, "--ignore: found \"{}\"{}, expected a setting of the cases: {}", name,
           near.empty() ? "" : ", did you mean \"" + near + "\"?",
           join({known.begin(), known.end()}));
    }
    for (auto* one : cases) {
      std::erase_if(one->configuration, [&](const auto& item) { return fits(item.first); });
    }
  }
}

Groups group_by_configuration(const ComparedFolder& folder,
                              const std::vector<std::string>& ignored) {
  Groups groups;
  for (const auto& one : folder.cases) {
    const auto [at, is_new] = groups[canonical(Json(one.configuration))].emplace(one.repeat, &one);
    if (is_new) continue;
    fail(ErrorKind::usage, "{} and {} are the same case with seed {}{}; {}", at->second->file,
         one.file, one.repeat.first, ignored.empty() ? "" : " without " + join(ignored),
         ignored.empty() ? "keep one of them" : "ignore less");
  }
  return groups;
}

}  // namespace mf
