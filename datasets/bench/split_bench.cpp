// Ratings split a second: labels drawn, parts copied out, cold ratings counted. Beside it a copy of
// the same 12 bytes a rating into fresh memory, which no split can beat.
//
// ml-20m x0.1 by default; with MFBENCH_BENCH_RATINGS=100000000 a look-alike of hugewiki of that
// size, cut as in the literature: copies of it must fit the memory.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

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

struct Columns {
  AlignedVector<std::int32_t> users, items;
  AlignedVector<float> values;
};

Columns copied(const Ratings& all, ThreadTeam& team) {
  Columns to{AlignedVector<std::int32_t>(all.nnz()), AlignedVector<std::int32_t>(all.nnz()),
             AlignedVector<float>(all.nnz())};
  team.for_chunks(all.nnz(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    std::copy(all.users().begin() + begin, all.users().begin() + end, to.users.begin() + begin);
    std::copy(all.items().begin() + begin, all.items().begin() + end, to.items.begin() + begin);
    std::copy(all.values().begin() + begin, all.values().begin() + end, to.values.begin() + begin);
  });
  return to;
}

void copy(benchmark::State& state) {
  const Ratings& all = bench_data().ratings;
  ThreadTeam team(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    std::optional<Columns> to = copied(all, team);
    benchmark::DoNotOptimize(to->values.data());
    state.PauseTiming();
    to.reset();
    state.ResumeTiming();
  }
  set_ratings(state);
}

// A separate copy.
Dataset own_data(ThreadTeam& team) {
  const Dataset& all = bench_data();
  const auto copy_of = [](auto view) {
    return AlignedVector<std::remove_cvref_t<decltype(view[0])>>(view.begin(), view.end());
  };
  Columns columns = copied(all.ratings, team);
  Dataset own;
  own.info = all.info;
  own.ratings =
      Ratings(Ratings::Arrays{std::move(columns.users), std::move(columns.items),
                              std::move(columns.values), copy_of(all.ratings.user_offsets()),
                              copy_of(all.ratings.user_ids()), copy_of(all.ratings.item_ids())});
  return own;
}

// As a run does it whose ratings are not needed elsewhere.
void consume(benchmark::State& state, const SplitSpec& spec, UsersColumn of_train) {
  const auto threads = static_cast<int>(state.range(0));
  ThreadTeam team(threads);
  bench_data();
  for (auto _ : state) {
    state.PauseTiming();
    Dataset own = own_data(team);
    state.ResumeTiming();
    std::optional<Split> parts = make_split_consuming(std::move(own), spec, threads, of_train);
    benchmark::DoNotOptimize(parts->cold_ratings);
    state.PauseTiming();
    parts.reset();
    state.ResumeTiming();
  }
  set_ratings(state);
}

SplitSpec of_kind(SplitSpec::Kind kind, double validation = 0) {
  SplitSpec spec;
  spec.kind = kind;
  spec.validation_fraction = validation;
  return spec;
}

#define MF_SPLIT(name, ...)                   \
  BENCHMARK_CAPTURE(split, name, __VA_ARGS__) \
      ->Apply(thread_counts)                  \
      ->MeasureProcessCPUTime()               \
      ->UseRealTime()

MF_SPLIT(holdout, SplitSpec{});
MF_SPLIT(holdout_validation, of_kind(SplitSpec::Kind::holdout, 0.1));
MF_SPLIT(leave_one_out, of_kind(SplitSpec::Kind::leave_out));
MF_SPLIT(users, of_kind(SplitSpec::Kind::users, 0.1));
BENCHMARK_CAPTURE(consume, holdout, SplitSpec{}, UsersColumn::made)
    ->Apply(thread_counts)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(consume, holdout_by_rows, SplitSpec{}, UsersColumn::on_demand)
    ->Apply(thread_counts)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK(copy)->Apply(thread_counts)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace
}  // namespace mf
