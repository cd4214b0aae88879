// items_per_second is rating updates a second.
//   kernel/<loop>/<isa>/<f>          the inner loop alone, one thread, 1024 rows of Q (512 KiB at
//                                    f = 128)
//   epoch/<algorithm>/<threads>/<f>  whole epochs on a look-alike of ml-1m
//
// Larger shapes by environment: MFBENCH_BENCH_LIKE (a look-alike's name), MFBENCH_BENCH_SCALE (its
// scale factor), MFBENCH_BENCH_THREADS ("1,2,16"), MFBENCH_BENCH_FACTORS ("100,128").
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>

#include "algorithms/core/registry.hpp"
#include "algorithms/sgd_cpu/row_store.hpp"
#include "algorithms/sgd_cpu/settings.hpp"
#include "base/json.hpp"
#include "base/rng.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/bench_env.hpp"

namespace mf::sgd_cpu {
namespace {

constexpr std::int32_t kUsers = 8192;
constexpr std::int32_t kItems = 1024;
constexpr std::int32_t kRunLength = 12;  // Netflix cut into 17 item stripes

void run_kernel(benchmark::State& state, bool grouped, Isa isa, std::int32_t factors) {
  if (!has(isa)) {
    state.SkipWithError("this CPU lacks it");
    return;
  }
  ThreadTeam team(1);
  const Model model =
      initial_model(kUsers, kItems, factors, ModelKind::biased, 3.5, InitSpec{}, team.size());
  RowStore store(model, {}, {}, team);
  Rng rng(1);
  std::vector<Run> runs;
  std::vector<RowRating> in_runs;
  std::vector<Rating> in_stream;
  for (std::int32_t user = 0; user < kUsers; ++user) {
    runs.push_back({user, kRunLength});
    for (int k = 0; k < kRunLength; ++k) {
      const auto item = static_cast<std::int32_t>(rng.below(kItems));
      const auto value = static_cast<float>(1 + rng.below(5));
      in_runs.push_back({item, value});
      in_stream.push_back({static_cast<std::int32_t>(rng.below(kUsers)), item, value});
    }
  }
  const Step step = step_at(0.005, {0.02, 0.02, 0.02, 0.02}, 3.5);
  const Kernels loops = kernels(isa, factors, true);
  for (auto _ : state) {
    if (grouped) {
      loops.runs(store.rows(), step, runs.data(), std::ssize(runs), in_runs.data(),
                 std::ssize(in_runs));
    } else {
      loops.stream(store.rows(), step, in_stream.data(), std::ssize(in_stream));
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * std::ssize(in_runs));
}

// Made when the first epoch benchmark runs, and kept.
const Ratings& ratings() {
  static const Dataset data =
      make_look_alike(env("MFBENCH_BENCH_LIKE", "ml-1m"),
                      std::stod(env("MFBENCH_BENCH_SCALE", "1")), 1, hardware_threads());
  return data.ratings;
}

void run_epochs(benchmark::State& state, const std::string& name, const Json& changes,
                int threads) {
  const Ratings& train = ratings();
  const Params params = default_params(find_algorithm(name).params, changes);
  const auto algorithm = make_algorithm(name, params);
  ThreadTeam team(threads);
  Context context;
  context.team = &team;
  using Clock = std::chrono::steady_clock;
  {
    const Model initial = initial_model(train.n_users(), train.n_items(),
                                        static_cast<std::int32_t>(params.integer("factors")),
                                        ModelKind::biased, 3.5, InitSpec{}, hardware_threads());
    const auto start = Clock::now();
    algorithm->prepare(train, initial, context);
    state.counters["prepare_s"] = std::chrono::duration<double>(Clock::now() - start).count();
  }
  EpochArgs args{1, 0.005};
  algorithm->run_epoch(args, context);  // warms caches and threads
  std::int64_t updates = 0;
  for (auto _ : state) {
    ++args.epoch;
    updates += algorithm->run_epoch(args, context);
  }
  state.SetItemsProcessed(updates);
  const auto start = Clock::now();
  benchmark::DoNotOptimize(algorithm->factors());
  state.counters["factors_s"] = std::chrono::duration<double>(Clock::now() - start).count();
  state.counters["nnz"] = static_cast<double>(train.nnz());
}

void register_epochs(const std::string& name, const std::string& variant, Json changes, int threads,
                     int factors) {
  changes["factors"] = factors;
  benchmark::RegisterBenchmark(
      ("epoch/" + name + variant + "/" + std::to_string(threads) + "/" + std::to_string(factors))
          .c_str(),
      [=](benchmark::State& state) { run_epochs(state, name, changes, threads); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

bool register_all() {
  for (const bool grouped : {true, false}) {
    for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
      for (const std::int32_t factors : {32, 64, 100, 128, 256}) {
        const std::string name = std::string("kernel/") + (grouped ? "runs/" : "stream/") +
                                 to_string(isa) + "/" + std::to_string(factors);
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
          run_kernel(state, grouped, isa, factors);
        });
      }
    }
  }
  for (const int factors : int_list(env("MFBENCH_BENCH_FACTORS", "128"))) {
    register_epochs("sgd_serial", "", Json::object(), 1, factors);
    for (const int threads : int_list(env("MFBENCH_BENCH_THREADS", "1,2"))) {
      register_epochs("hogwild", "", Json::object(), threads, factors);
      register_epochs("fpsgd", "", Json::object(), threads, factors);
      register_epochs("fpsgd", "-local", Json{{"block_order", "local"}}, threads, factors);
    }
  }
  return true;
}

const bool kRegistered = register_all();

}  // namespace
}  // namespace mf::sgd_cpu
