// Runs all cases of a spec into one folder; finished ones are not run again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "harness/device_clock.hpp"
#include "harness/profile.hpp"
#include "harness/progress.hpp"
#include "harness/spec.hpp"

namespace mf {

struct SessionOptions {
  std::string folder;  // results; empty: results/runs/<spec name>
  std::string
      model_folder;  // models/<case id> below it; empty: below the results, if the spec asks
  std::string command_line;
  bool rerun = false;  // also cases that are finished
  bool retry = false;  // also cases that failed: error, oom, timeout
  // Run all cases again, for a profiler; into a folder of their own.
  std::optional<ProfileWindow> profile;
  std::function<int()> interrupted;
  // In place of the machine's device, for tests.
  std::function<std::unique_ptr<DeviceClock>()> open_device;
};

struct SessionSummary {
  std::string folder;
  int finished_before = 0;
  int run = 0;
  int failed = 0;  // error, oom, timeout; also those of an earlier call that were not run again
  bool interrupted = false;
};

// Throws Error before the first case where data is not at hand or the folder cannot be used, and
// Error(device), with the case's result written, where the device failed under a case.
SessionSummary run_session(const Spec& spec, const SessionOptions& options, Progress& progress);

// results/runs/<spec name>, with "-profile" for profiled runs.
std::string default_folder(const Spec& spec, bool profile = false);

// "missing data: ..." for every request of the spec that is not at hand; empty if all are.
std::string missing_data(const Spec& spec);

// Medians over seeds, one line an algorithm and data set, from the result files.
std::string summary_table(const std::string& folder, const Spec& spec);

}  // namespace mf
