// The targets of targets.json, frozen before anything is measured against them: three levels for
// each data set and split. docs/methodology.md has the rule.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json_fwd.hpp"
#include "harness/experiment/metric.hpp"

namespace mf {

inline constexpr std::array<std::string_view, 3> kTargetLevels = {"named", "stricter", "strictest"};

struct FrozenTargets {
  Metric metric;
  std::array<double, kTargetLevels.size()> values{};  // by level, each harder than the one before
  // By level: "named", "before" the results or "afterwards"; empty if the file lacks it.
  std::array<std::string, kTargetLevels.size()> chosen;

  TargetSpec at(std::size_t level) const { return {metric, values[level]}; }
};

// By the label of the data set and the split, as in headers; empty if none are frozen.
std::optional<FrozenTargets> frozen_targets(const std::string& dataset, const Json& split);

Json frozen_targets_json();  // the file, for readers of results

}  // namespace mf
