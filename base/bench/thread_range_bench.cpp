// The cost of a named range to its thread, with a timeline (`mfbench run --trace`) and without. A
// build with NVTX asks for a profiler once; none is there.
#include <benchmark/benchmark.h>

#include <optional>

#include "base/thread_range.hpp"
#include "testing/temp_folder.hpp"

namespace mf {
namespace {

void range(benchmark::State& state, bool traced) {
  const TempFolder folder;
  std::optional<Timeline> timeline;
  if (traced) timeline.emplace(folder / "timeline.json");
  for (auto _ : state) {
    const ThreadRange one("solve");
    benchmark::ClobberMemory();
  }
}

BENCHMARK_CAPTURE(range, untraced, false);
BENCHMARK_CAPTURE(range, traced, true);

}  // namespace
}  // namespace mf
