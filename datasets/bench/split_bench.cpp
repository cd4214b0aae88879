// Ratings split a second: labels drawn, parts copied out, cold ratings counted.
//
// ml-20m x0.1 by default; with MFBENCH_BENCH_RATINGS=100000000 a look-alike of hugewiki of that
// size, cut as in the literature: copies of it must fit the memory.
#include <benchmark/benchmark.h>

#include <optional>

#include "base/threads.hpp"
#include "datasets/split/split.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/bench_env.hpp"
#include "testing/bench_threads.hpp"

namespace mf {
namespace {

const Dataset& bench_data() {
  static const Dataset data = [] {
    const std::int64_t ratings = bench_ratings(0);
    if (ratings == 0) return make_look_alike("ml-20m", 0.1, 1, hardware_threads());
    const auto whole = static_cast<double>(look_alike_shape("hugewiki", 1).nnz);
    return make_look_alike("hugewiki", static_cast<double>(ratings) / whole, 1, hardware_threads());
  }();
  return data;
}

void set_ratings(benchmark::State& state) {
  state.counters["ratings"] = benchmark::Counter(static_cast<double>(bench_data().ratings.nnz()),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

// The data are made, and the parts dropped, off the clock.
void split(benchmark::State& state, const SplitSpec& spec) {
  const auto threads = static_cast<int>(state.range(0));
  const Dataset& data = bench_data();
  for (auto _ : state) {
    std::optional<Split> parts = make_split(data, spec, threads);
    benchmark::DoNotOptimize(parts->cold_ratings);
    state.PauseTiming();
    parts.reset();
    state.ResumeTiming();
  }
  set_ratings(state);
}

BENCHMARK_CAPTURE(split, holdout, SplitSpec{})
    ->Apply(thread_counts)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace mf
