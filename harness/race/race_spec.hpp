// The spec that `mfbench race` writes for ratings that it is given. docs/methodology.md,
// "A race", has the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.hpp"
#include "base/json/names.hpp"
#include "datasets/ratings/dataset.hpp"
#include "datasets/ratings/feedback.hpp"
#include "harness/device/device.hpp"
#include "harness/experiment/metric.hpp"
#include "harness/results/study/study_files.hpp"

namespace mf {

struct RatingsLook {
  Feedback feedback = Feedback::stars;
  double mean = 0, deviation = 0;
  std::int32_t users = 0, items = 0;
};

// `given`: the kind of feedback instead of a guess.
RatingsLook look_at_ratings(const Dataset& data, std::optional<Feedback> given, int threads);

struct RaceFrame {
  std::string name, description;
  Json dataset;         // an entry of "datasets"
  double seconds = 60;  // of all trials and all cases, about
  std::optional<DeviceInfo> device;
};

// Without a target, which follows from its trials.
Json race_spec(const RatingsLook& look, const RaceFrame& frame);

// The target of a race, before any case that is timed has run. By the scores of the studies' best
// trials: the worst score within 5 % of the best, or else the second best, made 1 % easier, with
// three digits on the easier side. Worse studies need not reach it. It is of the validation part,
// as the scores are: a small test part may differ from that by more than 1 %, and a target there
// could be out of reach. Empty if no trial has completed.
std::optional<TargetSpec> race_target(const std::vector<FoundStudy>& studies);

}  // namespace mf
