// The target of a race, from its trials, before any case that is timed has run.
#pragma once

#include <optional>
#include <vector>

#include "harness/experiment/metric.hpp"
#include "harness/results/study/study_files.hpp"

namespace mf {

// By the scores of the studies' best trials: the worst score within 5 % of the best, made 1 %
// easier, with three digits on the easier side. Worse studies need not reach it. It is of the
// validation part, as the scores are: a small test part may differ from that by more than 1 %, and
// a target there could be out of reach. Empty if no trial has completed.
std::optional<TargetSpec> race_target(const std::vector<FoundStudy>& studies);

}  // namespace mf
