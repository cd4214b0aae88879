#include "harness/device/device_sampler.hpp"

#include <utility>

#include "base/clock.hpp"

namespace mf {

DeviceSampler::DeviceSampler(Read read, std::chrono::milliseconds pace)
    : read_(std::move(read)), pace_(pace), thread_([this] { run(); }) {}

DeviceSampler::~DeviceSampler() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

void DeviceSampler::begin_epochs() {
  const std::lock_guard lock(mutex_);
  within_ = true;
  ++group_;
}

void DeviceSampler::end_epochs() {
  const std::lock_guard lock(mutex_);
  within_ = false;
}

std::vector<DeviceReading> DeviceSampler::readings() const {
  const std::lock_guard lock(mutex_);
  return readings_;
}

// The pace does not follow the groups: readings fall anywhere in them, never closer than it.
void DeviceSampler::run() {
  std::unique_lock lock(mutex_);
  const auto next = [this] { return Clock::now() + pace_; };
  for (auto at = next(); !ends_.wait_until(lock, at, [this] { return ended_; }); at = next()) {
    if (within_) take(lock);
  }
}

// Not under the lock: the epochs must never wait for the driver's answer.
void DeviceSampler::take(std::unique_lock<std::mutex>& lock) {
  const std::int64_t group = group_;
  lock.unlock();
  const DeviceReading reading = read_();
  lock.lock();
  if (within_ && group == group_ && !reading.empty()) readings_.push_back(reading);
}

}  // namespace mf
