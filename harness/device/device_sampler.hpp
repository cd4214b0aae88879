// Reads the device's state within epochs: a separate thread that asks at a fixed pace, and keeps
// the readings from epochs. It neither waits for work on the device nor disturbs it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/device/device_clock.hpp"

namespace mf {

class DeviceSampler {
 public:
  using Read = std::function<DeviceReading()>;  // must not throw; called from the thread

  // A group of epochs takes about 0.1 s: some five readings. Epochs that are shorter than the
  // pace and evaluated one by one are met by chance, without preference for their begin or end.
  static constexpr std::chrono::milliseconds kPace{20};

  explicit DeviceSampler(Read read, std::chrono::milliseconds pace = kPace);
  ~DeviceSampler();  // the thread has ended then
  DeviceSampler(const DeviceSampler&) = delete;
  DeviceSampler& operator=(const DeviceSampler&) = delete;

  void begin_epochs();
  void end_epochs();  // a reading that is under way then is dropped

  std::vector<DeviceReading> readings() const;

 private:
  void run();
  void take(std::unique_lock<std::mutex>& lock);

  const Read read_;
  const std::chrono::milliseconds pace_;
  mutable std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  bool within_ = false;
  std::int64_t group_ = 0;  // tells the groups of epochs apart
  std::vector<DeviceReading> readings_;
  std::thread thread_;  // the last member: it uses all others
};

// Epochs run as long as this lives, also if they throw. `sampler` may be null.
class SampledEpochs {
 public:
  explicit SampledEpochs(DeviceSampler* sampler) : sampler_(sampler) {
    if (sampler_ != nullptr) sampler_->begin_epochs();
  }
  ~SampledEpochs() {
    if (sampler_ != nullptr) sampler_->end_epochs();
  }
  SampledEpochs(const SampledEpochs&) = delete;
  SampledEpochs& operator=(const SampledEpochs&) = delete;

 private:
  DeviceSampler* sampler_;
};

}  // namespace mf
