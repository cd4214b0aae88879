// The target of a race, from its trials, before any case that is timed has run.
#pragma once

#include <optional>
#include <vector>

#include "harness/results/study/study_files.hpp"
#include "harness/spec/metric.hpp"

namespace mf {

// How far the target is from what the trials reached, as a share: more where parts are small.
//
// The test part is another draw than the validation part. Of n ratings the RMSE has a standard
// error of about 1 / sqrt(2 n) of itself, of n users the mean of a ranking metric one of about
// 1 / sqrt(n); the two parts are of one size, so their difference has that times sqrt(2). Two of
// these, and 1 % at least.
double target_slack(const Metric& metric, double part);

// By the scores of the studies' best trials, each on the validation part: the worst of those that
// are within 5 % of the best, less the slack, with three digits on the easier side. Whoever is
// further off is not waited for. Nothing where no trial has completed.
std::optional<TargetSpec> race_target(const std::vector<FoundStudy>& studies, double part);

}  // namespace mf
