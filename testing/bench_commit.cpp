// Adds the measured build to the head of Google Benchmark's output, so that its JSON names it as
// the result files do.
#include <benchmark/benchmark.h>

#include "mf_generated/build_info.hpp"

namespace mf {
namespace {

// Before main(): the library's own writes the context.
[[maybe_unused]] const bool told = [] {
  benchmark::AddCustomContext("mfbench", build_info::version);
  benchmark::AddCustomContext("git_sha", build_info::git_sha);
  benchmark::AddCustomContext("git_dirty", build_info::git_dirty ? "true" : "false");
  benchmark::AddCustomContext("compiler", build_info::compiler);
  benchmark::AddCustomContext("flags", build_info::flags);
  return true;
}();

}  // namespace
}  // namespace mf
