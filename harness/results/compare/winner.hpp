// Who wins a race, and at which target: the one rule for the terminal, the figures and the report.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/experiment/metric.hpp"

namespace mf {

// A configuration on a data set; numbers of its runs.
struct Racer {
  std::string name;
  std::vector<double> answers;  // to the target, kNever if it was missed
  std::vector<double> quality;  // headlines
  bool contended = false;       // other programs used part of the machine
};

struct Goal {
  TargetSpec target;
  std::string data;
  bool named = true;  // by the spec
  Metric quality;     // of headlines
};

// A target and two harder ones: frozen ones, or else 5 % short of the best quality, the middle, and
// it. `named` replaces the first. Empty without any of these.
std::vector<double> target_levels(std::vector<Racer> racers, Metric metric,
                                  std::optional<double> named, std::vector<double> frozen);
// Places of those whose median run reaches the target, the first in front. One with fewer than
// kFewestRuns runs stands behind the others.
std::vector<std::size_t> finish_order(const std::vector<Racer>& racers);
// "fpsgd, RMSE 0.9 on ml-1m look-alike in 0.41 s; 2.3 times as fast as hogwild, the next; lowest at
// the end: hogwild, test RMSE 0.8911", of medians. No factor of contended times, or of too few
// runs.
std::string winner_text(const std::vector<Racer>& racers, const Goal& goal);

}  // namespace mf
