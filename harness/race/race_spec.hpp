// The spec that `mfbench race` writes for ratings that it is given. docs/methodology.md,
// "A race", has the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json/json.hpp"
#include "base/json/names.hpp"
#include "datasets/ratings/dataset.hpp"
#include "datasets/ratings/feedback.hpp"
#include "harness/device/device.hpp"

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

// Without a target: race_target.hpp has that once its trials have run.
Json race_spec(const RatingsLook& look, const RaceFrame& frame);

}  // namespace mf
