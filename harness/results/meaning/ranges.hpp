// Named ranges: clocks of phases, which profilers (NVTX) and the timeline see as well, and a text
// sink, so that annotation can be tested without either.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "base/clock.hpp"
#include "base/json/json_fwd.hpp"
#include "harness/device/device_clock.hpp"

namespace mf {

class Timeline;

// A stack of ranges. Time of each name is summed; a nested range counts for both, but one within
// another of its name only for the outer one. On a device, the phases of an epoch are timed by
// marks on its stream as well, and a "transfer" begins and ends with the stream empty.
class Ranges : public PhaseSink {
 public:
  using Observer = std::function<void(const std::string& name, bool begins)>;

  void begin(const char* name) override;
  void end() override;

  // Null: no device. It must outlive the ranges that are open.
  void set_device(DeviceClock* device) { device_ = device; }
  // Between the two, ranges that begin and end are marked on the stream. Returns how many marks
  // were set.
  void start_device_phases() noexcept;
  std::int64_t stop_device_phases() noexcept;
  // After the device's synchronize(): adds the device time of the phases, and of all between start
  // and stop to `whole`. Returns the latter, in seconds.
  double resolve_device_phases(const std::string& whole);

  // The part that a profiler records.
  void begin_profile();
  void end_profile();  // if it has begun

  double seconds(const std::string& name) const;
  // For ranges that only "case" encloses: the clocks of a case, which never overlap, under any
  // phase names of an algorithm.
  double clock_seconds(const std::string& name) const;
  // For the phase "transfer" inside of "prepare": one inside of an epoch is training.
  double transfer_s() const { return transfer_s_; }
  // Seconds of a "start" inside of "prepare": the start of a program that does the work. A "start"
  // in kForPeerPhase does not count.
  double nested_start_s() const { return nested_start_s_; }
  // Seconds of kForPeerPhase inside of "prepare": mfbench's own work for a library.
  double for_peer_s() const { return for_peer_s_; }
  // Seconds of a clock that another thread was on beside the clock of this one.
  void add_beside(const std::string& name, double seconds);
  double beside_s() const { return beside_s_; }
  // {"name": {"seconds_s": ..., "count": ...}}, with "device_s" if the device timed it.
  Json to_json() const;
  void set_observer(Observer observer) { observer_ = std::move(observer); }

 private:
  struct Total {
    double seconds = 0;
    double clock_seconds = 0;
    std::optional<double> device_seconds;
    std::int64_t count = 0;
  };
  struct Open {
    std::string name;
    Clock::time_point start;
    std::optional<std::int64_t> mark;
  };
  struct Marked {
    std::string name;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  void add_seconds(const std::string& name, double seconds);
  void show_device_phases(Timeline& timeline, const std::string& whole);
  void add_device_seconds(const std::string& name, double seconds);
  bool inside(const std::string& name) const;
  bool is_clock() const { return open_.empty() || (open_.size() == 1 && inside("case")); }
  bool is_transfer(const std::string& name) const { return device_ && name == "transfer"; }

  std::vector<Open> open_;
  std::map<std::string, Total> totals_;
  double transfer_s_ = 0;
  double nested_start_s_ = 0;
  double for_peer_s_ = 0;
  double beside_s_ = 0;
  Observer observer_;
  DeviceClock* device_ = nullptr;
  bool marking_ = false;
  bool profiling_ = false;
  Marked group_;
  Clock::time_point group_start_;
  std::vector<Marked> marked_;
};

// The ranges that are clocks if only the case encloses them. "transfer" is one within
// kPrepareRange. A "start" within it counts for kStartRange. The training clock has its own
// (harness/run/training_clock.hpp).
inline constexpr const char* kStartRange = "start";              // the device, made once a run
inline constexpr const char* kConnectRange = "connect";          // in start: NCCL and its links
inline constexpr const char* kLoadRange = "load";                // data, split, facts of the split
inline constexpr const char* kPrepareRange = "prepare";          // initial factors, the algorithm
inline constexpr const char* kPackPhase = "pack";                // in prepare: ratings for a device
inline constexpr const char* kForPeerPhase = "files_for_peer";   // in prepare, but on no clock
inline constexpr const char* kEvaluateRange = "evaluate";        // one a trace point
inline constexpr const char* kEvaluatorRange = "evaluator";      // preparing evaluations
inline constexpr const char* kFactorsRange = "factors_to_host";  // after training
inline constexpr const char* kWatchRange = "watch";  // readings of machine and device, marks
inline constexpr const char* kSaveRange = "save";    // lines of the result, the model

// The clocks of a case: every second of its wall time is on one of them, and the rest is reported.
// If clocks ran at the same time, their overlap is reported, too.
struct CaseClocks {
  double start_s = 0;
  double load_s = 0;
  double prepare_s = 0;  // without transfer, a start within, and kForPeerPhase
  double transfer_s = 0;
  double train_s = 0;
  double evaluate_s = 0;  // with the evaluator, the watch and kFactorsRange
  double save_s = 0;
  double beside_s = 0;  // in the others twice

  double sum() const {
    return start_s + load_s + prepare_s + transfer_s + train_s + evaluate_s + save_s;
  }
  double overlap_s(double wall_s) const { return std::max(beside_s, sum() - wall_s); }
};

double evaluate_seconds(const Ranges& ranges);  // so far

CaseClocks clocks_of(const Ranges& ranges, double train_s);

}  // namespace mf
