// Ratings split a second: labels drawn, parts copied out, cold ratings counted.
#include <benchmark/benchmark.h>

#include "datasets/split.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/bench_threads.hpp"

namespace mf {
namespace {

void split(benchmark::State& state, const SplitSpec& spec) {
  const auto threads = static_cast<int>(state.range(0));
  const Dataset data = make_look_alike("ml-20m", 0.1, 1, threads);
  for (auto _ : state) {
    Split parts = make_split(data, spec, threads);
    benchmark::DoNotOptimize(parts.cold_ratings);
  }
  const double ratings =
      static_cast<double>(data.ratings.nnz()) * static_cast<double>(state.iterations());
  state.counters["ratings"] = benchmark::Counter(ratings, benchmark::Counter::kIsRate);
}

SplitSpec leave_one_out() {
  SplitSpec spec;
  spec.kind = SplitSpec::Kind::leave_out;
  return spec;
}

BENCHMARK_CAPTURE(split, holdout, SplitSpec{})->Apply(thread_counts)->UseRealTime();
BENCHMARK_CAPTURE(split, leave_one_out, leave_one_out())->Apply(thread_counts)->UseRealTime();

}  // namespace
}  // namespace mf
