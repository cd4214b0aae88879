// Ratings generated a second, by threads. Wall clock: the threads of the team do the work.
#include <benchmark/benchmark.h>

#include <string>

#include "base/bench_threads.hpp"
#include "datasets/synthetic.hpp"

namespace mf {
namespace {

void make(benchmark::State& state, const std::string& like, double factor) {
  const auto threads = static_cast<int>(state.range(0));
  std::int64_t nnz = 0;
  for (auto _ : state) {
    const Dataset data = make_look_alike(like, factor, 1, threads);
    benchmark::DoNotOptimize(data.ratings.values().data());
    nnz += data.ratings.nnz();
  }
  state.counters["ratings"] =
      benchmark::Counter(static_cast<double>(nnz), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(make, ml_1m, "ml-1m", 1.0)->Apply(thread_counts)->UseRealTime();
BENCHMARK_CAPTURE(make, ml_20m_x0_1, "ml-20m", 0.1)->Apply(thread_counts)->UseRealTime();
BENCHMARK_CAPTURE(make, netflix_x0_05, "netflix", 0.05)->Apply(thread_counts)->UseRealTime();
BENCHMARK_CAPTURE(make, yahoomusic_x0_01, "yahoomusic", 0.01)->Apply(thread_counts)->UseRealTime();
BENCHMARK_CAPTURE(make, hugewiki_x0_001, "hugewiki", 0.001)->Apply(thread_counts)->UseRealTime();

}  // namespace
}  // namespace mf
