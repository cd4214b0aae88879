// The target of a race, from its trials, before any case that is timed has run.
#pragma once

#include <optional>
#include <vector>

#include "harness/results/study/study_files.hpp"
#include "harness/spec/metric.hpp"

namespace mf {

// By the scores of the studies' best trials: the worst of those that are within 5 % of the best,
// less 1 %, with three digits on the easier side. Whoever is further off is not waited for. It is
// of the validation part, as the scores are: small test parts differ from that by more than 1 %, so
// that all or none would reach a target there. Nothing where no trial has completed.
std::optional<TargetSpec> race_target(const std::vector<FoundStudy>& studies);

}  // namespace mf
