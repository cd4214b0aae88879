// Ratings generated a second, by threads. Wall clock: the threads of the team do the work.
//
// Whole sets take minutes and tens of GB, so they are made only if asked for:
//   MFBENCH_BENCH_WHOLE=netflix,hugewiki synthetic_bench --benchmark_filter=whole
// `peak_over_output` is the largest resident memory over the bytes of the ratings.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "datasets/synthetic/synthetic.hpp"
#include "testing/bench_threads.hpp"

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
BENCHMARK_CAPTURE(make, lastfm_360k_x0_05, "lastfm-360k", 0.05)
    ->Apply(thread_counts)
    ->UseRealTime();

void make_whole(benchmark::State& state, const std::string& like) {
  make(state, like, 1.0);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const Shape shape = look_alike_shape(like, 1.0);
  const std::int64_t bytes = 12 * shape.nnz + 12 * shape.n_users + 4 * shape.n_items;
  state.counters["peak_over_output"] =
      1024.0 * static_cast<double>(usage.ru_maxrss) / static_cast<double>(bytes);
}

const bool registered = [] {
  const char* names = std::getenv("MFBENCH_BENCH_WHOLE");
  std::istringstream list(names == nullptr ? "" : names);
  for (std::string like; std::getline(list, like, ',');) {
    benchmark::RegisterBenchmark(("whole/" + like).c_str(),
                                 [like](benchmark::State& state) { make_whole(state, like); })
        ->Arg(hardware_threads())
        ->Iterations(1)
        ->UseRealTime();
  }
  return true;
}();

}  // namespace
}  // namespace mf
