#include "harness/run/training_clock.hpp"

#include <algorithm>

namespace mf {
namespace {

// Phases are timed by events as long as this lives, also if an epoch throws.
class DevicePhases {
 public:
  DevicePhases(Ranges& ranges, std::int64_t& marks) : ranges_(ranges), marks_(marks) {
    ranges_.start_device_phases();
  }
  ~DevicePhases() { marks_ = ranges_.stop_device_phases(); }
  DevicePhases(const DevicePhases&) = delete;
  DevicePhases& operator=(const DevicePhases&) = delete;

 private:
  Ranges& ranges_;
  std::int64_t& marks_;
};

}  // namespace

std::optional<double> TrainingClock::device_seconds() const {
  if (device_ == nullptr) return std::nullopt;
  return device_seconds_;
}

void TrainingClock::time_group(std::int64_t count, const std::function<void()>& run,
                               const OwnClock& own) {
  if (device_ != nullptr) {
    // As many marks as the last group took an epoch: making them is not on the clock.
    const PhaseScope range(ranges_, kWatchRange);
    device_->clear_marks(last_marks_ * count / std::max<std::int64_t>(1, last_.count) + 2);
  }
  {
    const PhaseScope range(ranges_, "epoch");
    const auto start = Clock::now();
    try {
      if (device_ != nullptr) {
        time_on_device(run);
      } else {
        run();
      }
    } catch (...) {
      seconds_ += seconds_since(start);  // spent, if for nothing: the budget of a search counts it
      throw;
    }
    last_ = {count, seconds_since(start)};
  }
  if (own) last_.seconds = own() - seconds_;
  groups_.push_back(last_);
  seconds_ += last_.seconds;
  if (device_ == nullptr) return;
  const PhaseScope range(ranges_, kWatchRange);
  device_seconds_ += ranges_->resolve_device_phases("epoch");
}

void TrainingClock::time_on_device(const std::function<void()>& run) {
  {
    const DevicePhases phases(*ranges_, last_marks_);
    run();
  }
  device_->synchronize();
}

}  // namespace mf
