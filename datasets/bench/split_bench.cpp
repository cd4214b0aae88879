// Ratings split a second: labels drawn, parts copied out, cold ratings counted.
//
// Also from the cache, as a case for a device loads its data: cut while they are read, with the
// facts of the training part. Counters: seconds of each stage.
//
// ml-20m x0.1 by default; with MFBENCH_BENCH_RATINGS=100000000 a look-alike of hugewiki of that
// size, cut as in the literature: copies of it must fit the memory.
#include <benchmark/benchmark.h>

#include <map>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/threads.hpp"
#include "datasets/cache.hpp"
#include "datasets/ratings/rating_facts.hpp"
#include "datasets/split/split.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/bench_env.hpp"
#include "testing/bench_threads.hpp"
#include "testing/temp_folder.hpp"

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

// A fifth of the ratings is labelled as a given test part. The file is in $TMPDIR.
const std::string& cache_file() {
  static const TempFolder folder;
  static const std::string path = [] {
    Dataset data = bench_data();
    AlignedVector<std::uint8_t> labels(data.ratings.nnz());
    for (std::int64_t i = 0; i < std::ssize(labels); ++i)
      labels[i] = i * 2'654'435'761 % 5 == 0 ? kTest : kTrain;
    data.parts = std::move(labels);
    std::string made = folder / "bench.mfc";
    write_cache(made, data, hardware_threads());
    return made;
  }();
  return path;
}

void from_cache(benchmark::State& state, SplitSpec::Kind kind) {
  const auto threads = static_cast<int>(state.range(0));
  const std::string& path = cache_file();
  SplitSpec spec;
  spec.kind = kind;
  std::map<std::string, double> seconds;
  Communicator self;
  for (auto _ : state) {
    auto last = Clock::now();
    const auto lap = [&](const char* stage) {
      seconds[stage] += seconds_since(last);
      last = Clock::now();
    };
    Dataset data = read_cache_slice(path, self, threads, false, ReadColumns::when_cut).data;
    lap("cache_s");
    std::optional<Split> parts =
        make_split_consuming(std::move(data), spec, threads, UsersColumn::on_demand);
    lap("split_s");
    benchmark::DoNotOptimize(facts_of(parts->train, threads).mean);
    lap("facts_s");
    state.PauseTiming();
    parts.reset();
    state.ResumeTiming();
  }
  set_ratings(state);
  for (const auto& [stage, sum] : seconds)
    state.counters[stage] = sum / static_cast<double>(state.iterations());
}

BENCHMARK_CAPTURE(from_cache, holdout, SplitSpec::Kind::holdout)
    ->Apply(thread_counts)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(from_cache, given, SplitSpec::Kind::given)
    ->Apply(thread_counts)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace mf
