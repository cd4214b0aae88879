// A session with a process of its own for each case: nothing of an earlier case is in its memory,
// on the device or on the host (docs/methodology.md, "Comparing two runs"). A process is this
// program with the words it was called with and --one-case=N, which runs that case as any run does.
#pragma once

#include <optional>

#include "harness/run/session.hpp"

namespace mf {

inline constexpr int kReportFile = 3;  // of such a process: where its report goes

struct ApartSession {
  SessionSummary summary;
  std::optional<int> ended_by;  // the exit code of a process after which no other was started
};

// `options.words` are those that it was called with. Trials come first, in one process. A process
// that a signal ends, other than one to end the run, takes only its case or trial along, which has
// failed; by SIGKILL it has no result, and the next run has it again. Throws Error(io) where no
// process can be started.
ApartSession run_apart(const Spec& spec, const RunOptions& options);

// In such a process: tells the one that started it, and returns its own exit code.
int end_one_case(const SessionSummary& summary, int signal);

}  // namespace mf
