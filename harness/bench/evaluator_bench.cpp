// The evaluators on the host.
//   ratings/<threads>/<f>     RMSE and MAE over the test part of a look-alike; items are ratings,
//                             bytes count their rows of P and Q: floor, the caches'
//                             bandwidth
//   objective/<threads>/<f>   of implicit feedback over its pairs; items are pairs
// Larger shapes by environment: MFBENCH_BENCH_LIKE (a look-alike's name), MFBENCH_BENCH_SCALE (its
// scale factor), MFBENCH_BENCH_THREADS ("1,2,16"), MFBENCH_BENCH_FACTORS ("100,128").
#include <benchmark/benchmark.h>

#include <string>

#include "datasets/split/split.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "harness/evaluate/evaluator.hpp"
#include "harness/evaluate/implicit_objective.hpp"
#include "testing/bench_env.hpp"

namespace mf {
namespace {

const Split& data() {
  static const Split split = [] {
    const double scale = std::stod(env("MFBENCH_BENCH_SCALE", "1"));
    const Dataset made =
        make_look_alike(env("MFBENCH_BENCH_LIKE", "ml-1m"), scale, 1, hardware_threads());
    SplitSpec spec;
    spec.test_fraction = 0.5;
    return make_split(made, spec, hardware_threads());
  }();
  return split;
}

Model model_of(const Ratings& train, std::int32_t factors) {
  return initial_model(train.n_users(), train.n_items(), factors, ModelKind::plain, 0, InitSpec{},
                       hardware_threads());
}

void run_ratings(benchmark::State& state, int threads, std::int32_t factors) {
  const Split& split = data();
  ThreadTeam team(threads);
  const Model model = model_of(split.train, factors);
  const Evaluator evaluator(split.train);
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluator.evaluate(model.view(), split.test, team));
  }
  const std::int64_t count = state.iterations() * split.test.nnz();
  state.SetItemsProcessed(count);
  state.SetBytesProcessed(count * 2 * factors * static_cast<std::int64_t>(sizeof(float)));
}

void run_objective(benchmark::State& state, int threads, std::int32_t factors) {
  const Split& split = data();
  ThreadTeam team(threads);
  const Model model = model_of(split.train, factors);
  const ImplicitObjective objective(split.train, {1, 0.1, 0}, team);
  for (auto _ : state) benchmark::DoNotOptimize(objective.evaluate(model.view(), team));
  state.SetItemsProcessed(state.iterations() * split.train.nnz());
}

bool register_all() {
  for (const int threads : int_list(env("MFBENCH_BENCH_THREADS", "1,2"))) {
    for (const int factors : int_list(env("MFBENCH_BENCH_FACTORS", "32,128"))) {
      const std::string sizes = std::to_string(threads) + "/" + std::to_string(factors);
      const auto add = [&](const std::string& name, auto run) {
        benchmark::RegisterBenchmark((name + "/" + sizes).c_str(),
                                     [=](benchmark::State& state) { run(state, threads, factors); })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      };
      add("ratings", run_ratings);
      add("objective", run_objective);
    }
  }
  return true;
}

const bool kRegistered = register_all();

}  // namespace
}  // namespace mf
