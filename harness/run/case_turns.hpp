// The cases of a session, some of which other processes may run.
#pragma once

#include "harness/run/one_case.hpp"
#include "harness/run/session.hpp"

namespace mf {

// Runs this process's cases of `summary.spec` that have no result and that no other process holds,
// and counts all in `summary`. Throws as run_session().
void run_cases(SessionSummary& summary, const RunContext& context);

}  // namespace mf
