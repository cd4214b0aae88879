#include "harness/run/case/case_device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.hpp"
#include "base/thread_range.hpp"
#include "datasets/load.hpp"
#include "harness/run/case/warm_up.hpp"
#include "harness/run/data/shared_cases.hpp"

namespace mf {

void CaseDevice::open_beside(const Case& item, std::function<void()> first) {
  beside_from_ = Clock::now();
  beside_ = std::thread([this, &item, first = std::move(first)] {
    Timeline::name_thread("device");
    const ThreadRange range(kStartRange);
    try {
      first();
      clock_ = options_.open_device();
      if (const auto shape = expected_shape(item.data)) clock_->expect_upload(8 * shape->nnz);
      warm_up(item, nullptr);
    } catch (...) {
      (clock_ ? not_warm_ : not_opened_) = std::current_exception();
    }
    beside_to_ = Clock::now();
  });
}

void CaseDevice::await() {
  if (!beside_.joinable()) return;
  const PhaseScope range(&ranges_, kStartRange);
  const auto asked = Clock::now();
  beside_.join();
  const std::chrono::duration<double> beside = std::min(asked, beside_to_) - beside_from_;
  ranges_.add_beside(kStartRange, beside.count());
}

void CaseDevice::warm_up(const Case& item, Communicator* group) {
  if (not_warm_) std::rethrow_exception(not_warm_);
  mf::warm_up(item, *clock_, group);
}

std::optional<std::string> CaseDevice::why_not_opened(const Case& item, std::int64_t ratings) {
  if (!needs_device(item)) return std::nullopt;
  await();
  try {
    if (not_opened_) std::rethrow_exception(not_opened_);
    if (!clock_) clock_ = options_.open_device();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return fmt::format("{} needs a CUDA device: {}", item.algorithm, error.what());
  }
  clock_->expect_upload(8 * ratings);
  ranges_.set_device(clock_.get());
  if (clock_->tells().readings) watch();
  return std::nullopt;
}

void CaseDevice::watch() {
  sampler_ = std::make_unique<DeviceSampler>([this] { return clock_->reading(); });
  EnergyMeter::Read energy;
  if (clock_->tells().energy) energy = [this] { return clock_->energy_j(); };
  energy_ = std::make_unique<EnergyMeter>(std::move(energy), options_.watch_pace_s,
                                          [this] { return seconds_since(start_); });
}

void CaseDevice::watch_group(const TrainingClock& clock, const std::function<void()>& run) {
  if (!is_watched()) return run();
  {
    const PhaseScope range(&ranges_, kWatchRange);
    energy_->begin_group();
  }
  {
    const SampledEpochs sampled(sampler_.get());
    run();
  }
  const PhaseScope range(&ranges_, kWatchRange);
  energy_->end_group(clock.last_group().seconds);
}

void CaseDevice::read() {
  if (!is_watched() || (read_at_ && seconds_since(*read_at_) < options_.watch_pace_s)) return;
  read_at_ = Clock::now();
  const PhaseScope range(&ranges_, kWatchRange);
  after_.push_back(clock_->reading());
}

void CaseDevice::pause() {
  if (!is_watched()) return;
  const PhaseScope range(&ranges_, kWatchRange);
  energy_->pause();
}

void CaseDevice::end_training() {
  if (!clock_) return;
  const PhaseScope range(&ranges_, kWatchRange);
  load_.emplace();
  load_->others = clock_->others();
  if (energy_) energy_->finish();
}

std::optional<double> CaseDevice::joules() const {
  if (!energy_) return std::nullopt;
  const auto known = after_.empty() ? readings() : after_;
  return energy_->joules(known.empty() ? std::nullopt : known.back().power_w);
}

std::vector<DeviceReading> CaseDevice::readings() const {
  return sampler_ ? sampler_->readings() : std::vector<DeviceReading>();
}

void CaseDevice::report(CaseMeasures& measures) const {
  if (!clock_) return;
  measures.peak_device_bytes = clock_->peak_bytes();
  measures.readings = readings();
  measures.after = after_;
  measures.device_load = load_;
  if (!load_) return;
  for (const auto& one : measures.readings.empty() ? after_ : measures.readings) {
    if (one.slowdowns) count_slowdowns(*measures.device_load, *one.slowdowns);
  }
}

}  // namespace mf
