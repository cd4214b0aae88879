#include "harness/commands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "harness/device/device.hpp"

namespace mf {
namespace {

std::string value_text(const ParamValue& value) {
  return std::visit([](const auto& v) { return Json(v).dump(); }, value);
}

std::string range_text(const ParamSpec& spec) {
  switch (spec.type) {
    case ParamSpec::Type::boolean:
      return "true | false";
    case ParamSpec::Type::choice:
      return join(spec.choices, " | ");
    case ParamSpec::Type::integer:
      return fmt::format("{:.0f} .. {:.0f}", spec.min, spec.max);
    case ParamSpec::Type::text:
      return "text";
    case ParamSpec::Type::number:
      break;
  }
  return fmt::format("{} .. {}", spec.min, spec.max);
}

Json param_json(const ParamSpec& spec) {
  Json json = {
      {"name", spec.name}, {"help", spec.help}, {"unit", spec.unit}, {"range", range_text(spec)}};
  std::visit([&](const auto& value) { json["default"] = value; }, spec.fallback);
  return json;
}

std::string unit_of(const AlgorithmInfo& info) {
  if (info.foreign != nullptr) return info.foreign->hardware;
  return info.hardware == Hardware::cuda ? "cuda" : "cpu";
}

// "CPU", "CUDA", "CUDA, compute capability 8.0 or newer"; of a library as its form says.
std::string hardware_text(const AlgorithmInfo& info) {
  if (info.foreign != nullptr) return info.foreign->hardware;
  if (info.hardware == Hardware::cpu) return "CPU";
  if (info.min_compute == 0) return "CUDA";
  return "CUDA, compute capability " + format_compute(info.min_compute) + " or newer";
}

Json describe_json(const AlgorithmInfo& info) {
  Json params = Json::array();
  for (const auto& spec : info.params) {
    if (!spec.fixed) params.push_back(param_json(spec));
  }
  return {{"name", info.name},
          {"summary", info.summary},
          {"paper", info.paper},
          {"plugin", info.origin.empty() ? Json() : Json(info.origin)},
          {"hardware", hardware_text(info)},
          {"deterministic", info.deterministic},
          {"uses_learning_rate", info.uses_learning_rate},
          {"phases", info.phases},
          {"params", params}};
}

void describe(const AlgorithmInfo& info) {
  const std::string& name = info.name;
  fmt::print("{}: {}\npaper: {}\n{}hardware: {}{}\ndeterministic: {}\nphases: {}\nparameters:\n",
             info.name, info.summary, info.paper,
             info.origin.empty() ? "" : fmt::format("plugin: {}\n", info.origin),
             hardware_text(info), is_built(name) ? "" : " (not in this build)",
             info.deterministic ? "yes" : "no",
             info.phases.empty() ? "none of its own" : join(info.phases));
  for (const auto& spec : info.params) {
    if (spec.fixed) continue;
    fmt::print("  {:<16} {:<12} {:<28} {}{}\n", spec.name, value_text(spec.fallback),
               range_text(spec), spec.help, spec.unit.empty() ? "" : " [" + spec.unit + "]");
  }
  if (info.uses_learning_rate) {
    fmt::print("learning rate: \"learning_rate\" or \"schedule\" of the spec (docs/spec.md)\n");
  }
}

using Group = std::pair<std::string, std::vector<const AlgorithmInfo*>>;  // with its title

// By title, those of other programs last.
std::vector<Group> grouped() {
  std::map<std::pair<bool, std::string>, Group> groups;
  for (const auto* info : all_algorithms()) {
    const std::string& title = info->title.empty() ? info->family : info->title;
    std::string key = title;
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    Group& group = groups[{info->foreign != nullptr, key}];
    group.first = title;
    group.second.push_back(info);
  }
  std::vector<Group> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

Json list_json(const AlgorithmInfo& info, const std::string& title) {
  return {{"name", info.name},         {"family", info.family},        {"group", title},
          {"hardware", unit_of(info)}, {"built", is_built(info.name)}, {"summary", info.summary},
          {"paper", info.paper}};
}

// The title, and below it the names, with a star if this build lacks them.
std::string group_text(const std::string& title, const std::vector<const AlgorithmInfo*>& infos) {
  std::size_t width = 0, of_unit = 4;
  for (const auto* info : infos) width = std::max(width, info->name.size());
  for (const auto* info : infos) of_unit = std::max(of_unit, unit_of(*info).size());
  std::string text = title + "\n";
  for (const auto* info : infos) {
    const std::string start = fmt::format("  {:<{}}  {:<{}}{}  ", info->name, width, unit_of(*info),
                                          of_unit, is_built(info->name) ? " " : "*");
    text += folded(start + info->summary, shown_columns(stdout), start.size()) + "\n";
  }
  return text;
}

std::string missing_text() {
  const auto all = all_algorithms();
  const auto built = [](const AlgorithmInfo* info) { return is_built(info->name); };
  if (std::all_of(all.begin(), all.end(), built)) return "";
  return "* not in this build; `mfbench doctor --verbose` says why\n";
}

// One algorithm, or all whose names begin so: the algorithms of one library, or of all.
std::vector<const AlgorithmInfo*> named(const std::string& name) {
  std::vector<const AlgorithmInfo*> found;
  for (const auto* info : all_algorithms()) {
    if (info->name.starts_with(name + ":")) found.push_back(info);
  }
  if (found.empty()) found.push_back(&find_algorithm(name));
  return found;
}

}  // namespace

void list_command(bool json) {
  const auto groups = grouped();
  if (!json) {
    std::string text;
    for (const auto& [title, infos] : groups) text += group_text(title, infos);
    text += missing_text();
    fmt::print("{}", text);
    return;
  }
  Json all = Json::array();
  for (const auto& [title, infos] : groups) {
    for (const auto* info : infos) all.push_back(list_json(*info, title));
  }
  fmt::print("{}\n", json_text(all, 2));
}

void describe_command(const std::string& name, bool json) {
  const auto infos = named(name);
  if (!json) {
    for (const auto* info : infos) {
      if (info != infos.front()) fmt::print("\n");
      describe(*info);
    }
    return;
  }
  Json all = Json::array();
  for (const auto* info : infos) all.push_back(describe_json(*info));
  fmt::print("{}\n", (all.size() == 1 ? all[0] : all).dump(2));
}

}  // namespace mf
