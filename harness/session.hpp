// Runs all cases of a spec into one folder; finished ones are not run again.
#pragma once

#include <functional>
#include <string>

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
  std::function<int()> interrupted;
};

struct SessionSummary {
  std::string folder;
  int finished_before = 0;
  int run = 0;
  int failed = 0;  // error, oom, timeout; also those of an earlier call that were not run again
  bool interrupted = false;
};

// Throws Error before the first case where data is not at hand or the folder cannot be used.
SessionSummary run_session(const Spec& spec, const SessionOptions& options, Progress& progress);

std::string default_folder(const Spec& spec);

// "missing data: ..." for every request of the spec that is not at hand; empty if all are.
std::string missing_data(const Spec& spec);

// Medians over seeds, one line an algorithm and data set, from the result files.
std::string summary_table(const std::string& folder, const Spec& spec);

}  // namespace mf
