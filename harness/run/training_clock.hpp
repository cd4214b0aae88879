// The training clock: groups of epochs, timed by the host and, on a device, by events on its
// stream.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "harness/device/device_clock.hpp"
#include "harness/results/meaning/ranges.hpp"
#include "harness/run/epoch_groups.hpp"

namespace mf {

class TrainingClock {
 public:
  // `device` is null for an algorithm of the CPU.
  TrainingClock(Ranges& ranges, DeviceClock* device) : ranges_(&ranges), device_(device) {}

  // Seconds of all training so far by a clock of the algorithm's own.
  using OwnClock = std::function<double()>;

  // Times `run`, which queues or does `count` epochs, as one range "epoch". The host clock stops
  // when the device has done all of it. Passes on errors of `run`; throws Error(device). If the
  // algorithm has a clock, the group took that clock's time.
  void time_group(std::int64_t count, const std::function<void()>& run, const OwnClock& own = {});

  const EpochGroup& last_group() const { return last_; }  // by the host clock
  EpochTimes epoch_times() const { return mf::epoch_times(groups_); }
  double seconds() const { return seconds_; }
  std::optional<double> device_seconds() const;  // nothing on the CPU

 private:
  void time_on_device(const std::function<void()>& run);

  Ranges* ranges_;
  DeviceClock* device_;
  EpochGroup last_;
  std::vector<EpochGroup> groups_;  // all
  std::int64_t last_marks_ = 2;
  double seconds_ = 0;
  double device_seconds_ = 0;
};

}  // namespace mf
