// Ratings split a second: labels drawn, parts copied out, cold ratings counted. Beside it a copy of
// the same 12 bytes a rating into fresh memory, which no split can beat.
//
// ml-20m x0.1 by default; with MFBENCH_BENCH_RATINGS=100000000 a look-alike of hugewiki of that
// size, cut as in the literature: copies of it must fit the memory.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "base/threads.hpp"
#include "datasets/split.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/bench_size.hpp"
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

void split(benchmark::State& state, const SplitSpec& spec) {
  const auto threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
    Split parts = make_split(bench_data(), spec, threads);
    benchmark::DoNotOptimize(parts.cold_ratings);
  }
  set_ratings(state);
}

void copy(benchmark::State& state) {
  const Ratings& all = bench_data().ratings;
  ThreadTeam team(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    AlignedVector<std::int32_t> users(all.nnz()), items(all.nnz());
    AlignedVector<float> values(all.nnz());
    team.for_chunks(all.nnz(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
      std::copy(all.users().begin() + begin, all.users().begin() + end, users.begin() + begin);
      std::copy(all.items().begin() + begin, all.items().begin() + end, items.begin() + begin);
      std::copy(all.values().begin() + begin, all.values().begin() + end, values.begin() + begin);
    });
    benchmark::DoNotOptimize(values.data());
  }
  set_ratings(state);
}

SplitSpec of_kind(SplitSpec::Kind kind, double validation = 0) {
  SplitSpec spec;
  spec.kind = kind;
  spec.validation_fraction = validation;
  return spec;
}

#define MF_SPLIT(name, ...) \
  BENCHMARK_CAPTURE(split, name, __VA_ARGS__)->Apply(thread_counts)->UseRealTime()

MF_SPLIT(holdout, SplitSpec{});
MF_SPLIT(holdout_validation, of_kind(SplitSpec::Kind::holdout, 0.1));
MF_SPLIT(leave_one_out, of_kind(SplitSpec::Kind::leave_out));
MF_SPLIT(users, of_kind(SplitSpec::Kind::users, 0.1));
BENCHMARK(copy)->Apply(thread_counts)->UseRealTime();

}  // namespace
}  // namespace mf
