// The cases of a session, some of which other processes may run.
#pragma once

#include "harness/run/one_case.hpp"
#include "harness/run/session.hpp"

namespace mf {

// Runs those of `summary.spec` that are this process's to run, have no result and are held by no
// other process, and counts all in `summary`. Throws as run_session().
void run_cases(SessionSummary& summary, const RunContext& context);

}  // namespace mf
