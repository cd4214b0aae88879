// The target of a race, from its trials, before any case that is timed has run.
#pragma once

#include <optional>
#include <vector>

#include "harness/results/study/study_files.hpp"
#include "harness/experiment/metric.hpp"

namespace mf {

// By the scores of the studies' best trials: the worst of those that are within 5 % of the best,
// made 1 % easier, with three digits on the easier side. One that is further off is not waited for.
// It is of the validation part, as the scores are: a small test part may differ from that by more
// than 1 %, and a target there could be out of reach. Empty if no trial has completed.
std::optional<TargetSpec> race_target(const std::vector<FoundStudy>& studies);

}  // namespace mf
