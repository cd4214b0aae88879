// One case of a session or of a study: whether its result stands, and the running of it beside the
// others.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/results/files/result_file.hpp"
#include "harness/run/runner.hpp"
#include "harness/run/turns.hpp"

namespace mf {

// Common to the cases of a session.
struct RunContext {
  const RunOptions& options;
  const ClaimFolder& claims;
  std::string& neighbour;  // as of SessionSummary
  DataStore& store;
  Progress& progress;
};

// The claim of this key, or null if another process holds it, which is noted.
std::unique_ptr<Claim> take_claim(const std::string& key, const RunContext& context);

// When the claim of a process on another machine is free: with --retry if it was made before this
// run, else `limit_s` after this process saw it first, if there is a limit.
Patience patience_of(const RunOptions& options, std::optional<double> limit_s = std::nullopt);

// The file of a result that stands, or empty if the case must run. `skipped` is asked again: the
// machine may have changed.
std::optional<ResultFile> standing_result(const std::string& path, const Case& item,
                                          const RunOptions& options);

// The case is `index` of `count`. A file in its place is renamed first. Throws as run_case(), and
// Error(device), with the result written, if the device failed under the case.
CaseResult run_one(const CaseTask& task, std::size_t index, std::size_t count,
                   const RunContext& context);

}  // namespace mf
