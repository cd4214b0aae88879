// The options of a run beside its spec, from the command line down to the loop of a case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/device/host_load.hpp"
#include "harness/experiment/profile.hpp"

namespace mf {

class RankWorld;

// Each `of`th case, from the `part`th on: for machines without a common folder.
struct Shard {
  std::int64_t part = 1;
  std::int64_t of = 1;
  std::set<std::size_t> named;  // of --case; empty: all

  bool has(std::size_t index) const {
    return static_cast<std::int64_t>(index) % of == part - 1 &&
           (named.empty() || named.contains(index));
  }
};

// The cases of a run --apart that other processes have run.
struct RanBefore {
  double seconds = 0;
  int cases = 0;
};

struct RunOptions {
  std::optional<std::string> folder;        // of the results; else results/runs/<spec name>
  std::optional<std::string> model_folder;  // else below the results, if the spec asks for models
  std::string command_line;
  std::vector<std::string> words;  // of the command line, without the program
  bool rerun = false;              // also cases that are finished
  bool retry = false;              // also cases that failed: error, oom, timeout
  // When the run began, by the clock of its file system: cases that any process ended later are not
  // run again. 0: at the start of the session.
  std::int64_t began_ns = 0;
  Shard shard;               // of the cases
  std::string named;         // as of cases_named()
  bool trials_only = false;  // the trials of the spec's studies, and no case
  // `mfbench run --apart`, and of one of its processes: the case of this number, from 0 on.
  bool apart = false;
  static constexpr std::int64_t kTrials = -1, kNoCase = -2;
  std::optional<std::int64_t> only;
  int ended_by = 0;  // the signal that ended an earlier process of this case: its result says so
  RanBefore before;  // the cases that ran before this process
  // The start of the process, if this is its first session.
  std::optional<Clock::time_point> process_start;
  // Once each algorithm has a case, no other begins that would take longer than this says.
  std::function<double()> left_s;
  std::string began;     // of a run --apart: results of later are its own (utc_now)
  bool explain = false;  // the table at the end
  bool share = true;     // what cases have in common is made once; false: by each of them anew
  // Run all cases again, for a profiler; into a folder of their own.
  std::optional<ProfileWindow> profile;
  std::optional<std::string> timeline;  // file (base/timeline.hpp) of the ranges in time
  // 0: go on; 1: end after the running epoch (Ctrl-C); 2: give the running epoch up.
  std::function<int()> interrupted;

  // The processes of the run, of which this is rank 0; null: one process.
  RankWorld* ranks = nullptr;

  // For tests: named ranges as they begin and end, and stand-ins for the machine and its device.
  std::function<void(const std::string&, bool)> on_range;
  std::function<std::unique_ptr<DeviceClock>()> open_device = mf::open_device;
  std::function<HostCounters()> read_host;  // instead of the machine's counters
  // Seconds between two readings of the device outside of epochs, at least: each takes the driver
  // milliseconds.
  double watch_pace_s = 0.25;
};

}  // namespace mf
