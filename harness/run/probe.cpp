#include "harness/run/probe.hpp"

#include <algorithm>

#include "algorithms/core/foreign.hpp"
#include "base/clock.hpp"
#include "datasets/ratings/rating_facts.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/prepared.hpp"

namespace mf {
namespace {

constexpr double kProbeSeconds = 0.1;
constexpr int kProbeEpochs = 20;

// By the process's own clock, since messages take longer than such an epoch. A library that starts
// again is asked for several epochs at once.
double probe_process(PreparedCase& prepared, const Case& item) {
  constexpr std::int64_t kEpochs = 3;
  const auto updates =
      static_cast<double>(prepared.run_epochs({1, item.schedule.learning_rate}, kEpochs));
  return updates / std::max(prepared.foreign()->own_train_s(), 1e-9);
}

// Ratings a second, measured.
double rate_of(const Case& item) {
  static const Dataset small = make_look_alike("ml-100k", 1.0, 1, 1);
  static const RatingFacts facts = facts_of(small.ratings, 1);
  const auto device = needs_device(item) ? open_device() : nullptr;
  PreparedCase prepared(item, small.ratings, facts, {device.get(), nullptr, {}});
  if (prepared.foreign() != nullptr) return probe_process(prepared, item);
  const auto run_epoch = [&](std::int64_t epoch) {
    const std::int64_t updates = prepared.run_epochs({epoch, item.schedule.learning_rate}, 1);
    prepared.synchronize();
    return static_cast<double>(updates);
  };
  run_epoch(1);
  const auto start = Clock::now();
  double updates = 0;
  for (int epoch = 2; epoch <= kProbeEpochs && seconds_since(start) < kProbeSeconds; ++epoch) {
    updates += run_epoch(epoch);
  }
  return updates / std::max(seconds_since(start), 1e-9);
}

}  // namespace

Probe probe(const Case& item) {
  try {
    return {rate_of(item), {}};
  } catch (const CaseOver& over) {
    if (over.why() != CaseOver::Why::skipped) return {};
    return {{}, over.what()};
  }
}

}  // namespace mf
