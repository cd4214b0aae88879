// How long epochs take: the first, which warms up and builds data for later ones, and the others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mf {

// Epochs that were timed together.
struct EpochGroup {
  std::int64_t count = 0;  // 0: none has run yet
  double seconds = 0;
  double epoch_s() const { return seconds / static_cast<double>(count); }
};

struct EpochTimes {
  std::optional<double> first_s;   // empty if the first epoch was not timed separately
  std::optional<double> steady_s;  // median over the epochs of all groups but the first
};

// Each epoch of a group counts with the group's mean. Groups in the order in which they ran.
EpochTimes epoch_times(const std::vector<EpochGroup>& groups);

}  // namespace mf
