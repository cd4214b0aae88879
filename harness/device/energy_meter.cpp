#include "harness/device/energy_meter.hpp"

#include <algorithm>
#include <utility>

namespace mf {
namespace {

// For the pace: a group with its own two readings is at least so long, as the counter moves in
// steps of some hundredths of a second.
constexpr double kLeastAlone = 0.2;

}  // namespace

EnergyMeter::EnergyMeter(Read read, double pace_s, Now now)
    : read_(std::move(read)), pace_s_(pace_s), now_(std::move(now)) {
  if (read_) joules_ = 0;
}

bool EnergyMeter::is_due() const { return joules_ && (!read_at_ || now_() - *read_at_ >= pace_s_); }

void EnergyMeter::pause() {
  if (!joules_) return;
  if (pending_s_ > 0 && last_pause_s_ >= pace_s_) read();
  paused_at_ = now_();
}

void EnergyMeter::begin_group() {
  if (paused_at_) {
    last_pause_s_ = now_() - *paused_at_;
    paused_at_.reset();
  }
  if (!is_due()) {
    only_groups_ = false;
    return;
  }
  // The energy before the first group is not training.
  if (pending_s_ > 0) {
    read();
  } else {
    begin_reading();
  }
  only_groups_ = read_at_.has_value();
}

void EnergyMeter::begin_reading() {
  const auto counter = read_();
  if (!counter) return;
  counter_ = *counter;
  read_at_ = now_();
}

void EnergyMeter::end_group(double seconds) {
  if (!joules_) return;
  pending_s_ += seconds;
  const bool single = only_groups_ && seconds >= kLeastAlone * pace_s_;
  if (single || is_due()) {
    read();
  } else {
    only_groups_ = false;  // the next phase, perhaps an evaluation, is not training
  }
}

void EnergyMeter::finish() {
  if (pending_s_ > 0 && is_due()) read();
}

// Training gets its share, by time, of the energy since the last reading.
void EnergyMeter::read() {
  if (!read_at_) {  // the driver has not answered yet: the time before is of unknown power
    begin_reading();
    return;
  }
  const auto counter = read_();
  if (!counter) return;
  const double now = now_();
  const double span = now - *read_at_;
  const double taken = *counter - counter_;
  const double share = only_groups_ ? 1 : std::clamp(span > 0 ? pending_s_ / span : 1.0, 0.0, 1.0);
  *joules_ += taken * share;
  if (pending_s_ > 0) watts_ = taken * share / pending_s_;
  counter_ = *counter;
  read_at_ = now;
  pending_s_ = 0;
  only_groups_ = false;
}

std::optional<double> EnergyMeter::joules(const std::optional<double>& watts) const {
  if (!joules_) return std::nullopt;
  return *joules_ + pending_s_ * (watts_ ? *watts_ : watts.value_or(0));
}

}  // namespace mf
