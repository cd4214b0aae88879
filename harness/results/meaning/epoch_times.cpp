#include "harness/results/meaning/epoch_times.hpp"

#include <algorithm>

namespace mf {
namespace {

double mean_epoch(const EpochGroup& group) {
  return group.seconds / static_cast<double>(group.count);
}

// The epoch with `rank` others before it, by time.
double at_rank(const std::vector<EpochGroup>& sorted, std::int64_t rank) {
  for (const EpochGroup& group : sorted) {
    if (rank < group.count) return mean_epoch(group);
    rank -= group.count;
  }
  return mean_epoch(sorted.back());
}

}  // namespace

EpochTimes epoch_times(const std::vector<EpochGroup>& groups) {
  EpochTimes times;
  if (groups.empty()) return times;
  if (groups.front().count == 1) times.first_s = groups.front().seconds;
  std::vector<EpochGroup> others(groups.begin() + 1, groups.end());
  if (others.empty()) return times;
  std::sort(others.begin(), others.end(),
            [](const auto& a, const auto& b) { return mean_epoch(a) < mean_epoch(b); });
  std::int64_t epochs = 0;
  for (const EpochGroup& group : others) epochs += group.count;
  times.steady_s = (at_rank(others, (epochs - 1) / 2) + at_rank(others, epochs / 2)) / 2;
  return times;
}

}  // namespace mf
