// The energy of the epochs, from a counter that runs all the time, takes milliseconds to read and
// moves in steps: it is read at most so often.
#pragma once

#include <functional>
#include <optional>

namespace mf {

class EnergyMeter {
 public:
  using Read = std::function<std::optional<double>()>;  // joules so far; empty: no answer now
  using Now = std::function<double()>;                  // seconds

  // An empty `read`: the device has no counter. `pace`: seconds between two readings at least; 0:
  // around every group of epochs.
  EnergyMeter(Read read, double pace_s, Now now);

  // Around each group of epochs, which took `seconds` of the training clock.
  void begin_group();
  void end_group(double seconds);
  // Before a phase other than training, such as an evaluation. If the last one took longer than the
  // pace, the counter is read now: the groups before it have their own energy.
  void pause();

  // For all groups so far; empty if the counter does not tell. The time after the last reading
  // counts at the power before it, or at `watts` if there was none.
  std::optional<double> joules(const std::optional<double>& watts) const;

  // Reads the counter for the groups since its last reading, unless it is too early for that: a few
  // steps of the counter are less exact than the power.
  void finish();

 private:
  bool is_due() const;
  void begin_reading();
  void read();

  Read read_;
  double pace_s_;
  Now now_;
  std::optional<double> joules_;  // up to the last reading
  double counter_ = 0;            // at the last reading
  std::optional<double> read_at_;
  double pending_s_ = 0;     // of the training clock since then
  bool only_groups_ = true;  // nothing but one group lies between the last reading and now
  std::optional<double> paused_at_;
  double last_pause_s_ = 0;
  std::optional<double> watts_;  // of training, between the two last readings
};

}  // namespace mf
