// Runs all cases of a spec into one folder; finished ones are not run again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/files/held_folder.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/results/study/study_files.hpp"
#include "harness/run/run_options.hpp"
#include "harness/run/show/progress.hpp"

namespace mf {

struct FailedCase {
  std::string id;
  Status status = Status::error;
  std::string reason;  // of its footer
};

// A case that another process was running when this one had nothing left to do.
struct HeldCase {
  std::string id;
  std::string key;     // of its claim
  std::string holder;  // "process 4711 on n017"
};

struct SessionSummary {
  std::string folder;
  std::shared_ptr<const HeldFolder> held_folder;  // files of the session are read below it
  int finished_before = 0;
  int by_others = 0;  // finished by another process since
  std::vector<HeldCase> held;
  std::string neighbour;  // another process on this machine that works in the folder, or empty
  int run = 0;
  int left_out = 0;                  // for RunOptions::left_s
  int failed = 0;                    // also of an earlier call and not run again
  int bad_data = 0;                  // of those run now: failed by their data
  std::vector<FailedCase> failures;  // failures that have a result
  bool interrupted = false;

  std::vector<FoundStudy> studies;           // their choices; until one was interrupted
  std::vector<std::string> studies_not_run;  // studies that this machine cannot run, and why
  int trials_run = 0;
  int trials_finished_before = 0;
  Spec spec;  // with the studies' choices; empty before
};

// The trials of its studies first, then its cases. Throws Error before the first case if data is
// not at hand or the folder cannot be used, Error(io) if a result cannot be written, and
// Error(device), with the case's result written, if the device failed under a case.
SessionSummary run_session(const Spec& spec, const RunOptions& options, Progress& progress);

// The folder that such a session writes into.
std::string folder_of(const Spec& spec, const RunOptions& options);

// results/runs/<spec name>, with "-profile" for profiled runs.
std::string default_folder(const Spec& spec, bool profile = false);

// "$.datasets[0]: ..." for every request of the spec that is not at hand; empty if all are.
std::string missing_data(const Spec& spec);

}  // namespace mf
