// What `mfbench run` and `mfbench tune` do, and how they end.
#pragma once

#include <string>

#include "harness/run/run_options.hpp"
#include "harness/run/show/progress.hpp"
#include "harness/spec/spec.hpp"

namespace mf {

inline constexpr int kSomeCasesFailed = 1;  // an exit code

// Says what is odd about a spec that is valid.
Spec read_and_warn(const std::string& path);

void refuse_apart(const RunOptions& options);

// The exit code, as of all here.
int run_command(const std::string& path, RunOptions options, ProgressMode mode);
int tune_command(const std::string& path, RunOptions options, ProgressMode mode, bool json);

// The exception being handled, on standard error.
int tell_exception();

}  // namespace mf
