// The device of a case: opened for it, and watched while it trains there, by readings within epochs
// and by the energy that they take. It does nothing for a case of the CPU, nor does the watch if
// the driver tells nothing.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/device/device_sampler.hpp"
#include "harness/device/energy_meter.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/results/files/case_result.hpp"
#include "harness/results/meaning/ranges.hpp"
#include "harness/run/run_options.hpp"
#include "harness/run/training_clock.hpp"

namespace mf {

class CaseDevice {
 public:
  CaseDevice(Ranges& ranges, const RunOptions& options) : ranges_(ranges), options_(options) {}

  ~CaseDevice() { await(); }

  // Starts the device by a thread of its own, beside the work of the caller: `first`, then the
  // device itself, the memory for an upload and the first calls of the case. Errors come from
  // why_not_opened() and warm_up().
  void open_beside(const Case& item, std::function<void()> first);
  bool is_starting() const { return beside_.joinable(); }
  // Until that thread has ended, on the clock of the start.
  void await();

  // Opens a device if the case needs one, which will upload so many ratings. Returns why there is
  // none, or empty.
  std::optional<std::string> why_not_opened(const Case& item, std::int64_t ratings);
  // The first calls of the case, if no one has made them. Throws as mf::warm_up().
  void warm_up(const Case& item, Communicator* group);
  DeviceClock* get() const { return clock_.get(); }  // null: no device
  DeviceStream stream() const { return clock_ ? clock_->stream() : nullptr; }

  // A group of epochs, which `run` does and `clock` times.
  void watch_group(const TrainingClock& clock, const std::function<void()>& run);
  // Right after a group, before the device has gone idle; not more often than the pace.
  void read();
  // Before a phase other than training, such as an evaluation.
  void pause();
  void end_training();

  bool is_watched() const { return energy_ != nullptr; }
  // In epochs so far; empty if the driver does not say.
  std::optional<double> joules() const;
  std::vector<DeviceReading> readings() const;  // within epochs
  void report(CaseMeasures& measures) const;

 private:
  void watch();

  Ranges& ranges_;
  const RunOptions& options_;
  const Clock::time_point start_ = Clock::now();
  std::unique_ptr<DeviceClock> clock_;  // outlives all that works on its stream
  std::unique_ptr<DeviceSampler> sampler_;
  std::unique_ptr<EnergyMeter> energy_;
  std::optional<Clock::time_point> read_at_;
  std::vector<DeviceReading> after_;
  std::optional<DeviceLoad> load_;
  std::thread beside_;  // starts the device
  Clock::time_point beside_from_, beside_to_;
  std::exception_ptr not_opened_, not_warm_;  // its errors
};

}  // namespace mf
