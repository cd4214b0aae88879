// Epochs of ccd++_cpu.
//
//   epoch/<isa>/<residual>/<f>/<threads>  bytes: the compulsory ones of an epoch a second
//
// On a look-alike of Netflix at 1/5 of its ratings, whose residuals are larger than any cache;
// MFBENCH_BENCH_LIKE and MFBENCH_BENCH_SCALE change it, MFBENCH_BENCH_FACTORS ("40") and
// MFBENCH_BENCH_THREADS ("1,16") the rest.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>

#include "algorithms/core/prepare.hpp"
#include "algorithms/core/registry.hpp"
#include "base/host/isa.hpp"
#include "base/json/json.hpp"
#include "testing/bench_env.hpp"

namespace mf::ccd {
namespace {

using Clock = std::chrono::steady_clock;
const Ratings& ratings() { return bench_look_alike("netflix", "0.2"); }

void run_epochs(benchmark::State& state, Isa isa, const std::string& residual, int factors,
                int threads) {
  if (!has(isa)) {
    state.SkipWithError("this CPU lacks it");
    return;
  }
  const Params params =
      default_params(find_algorithm("ccd++_cpu").params,
                     Json{{"factors", factors}, {"residual", residual}, {"simd", to_string(isa)}});
  ThreadTeam team(threads);
  Context context;
  context.team = &team;
  InitSpec init;
  init.kind = InitKind::uniform;
  const auto algorithm = prepare_algorithm(
      "ccd++_cpu", params, ratings(), initial_model_of(params, ratings(), init, threads), context);
  EpochArgs args;
  algorithm->run_epoch(args, context);
  std::int64_t updates = 0;
  const auto begin = Clock::now();
  for (auto _ : state) {
    ++args.epoch;
    updates += algorithm->run_epoch(args, context);
  }
  const double s = std::chrono::duration<double>(Clock::now() - begin).count();
  const double rate =
      algorithm->work_per_epoch().bytes * static_cast<double>(state.iterations()) / s;
  state.SetItemsProcessed(updates);
  state.counters["bytes"] = rate;
}

bool register_all() {
  for (const int threads : bench_threads()) {
    const std::string count = std::to_string(threads);
    for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
      for (const std::string residual : {"separate", "fused"}) {
        for (const int factors : int_list(env("MFBENCH_BENCH_FACTORS", "40"))) {
          add_bench("epoch/" + to_string(isa) + "/" + residual + "/" + std::to_string(factors) +
                        "/" + count,
                    [=](benchmark::State& s) { run_epochs(s, isa, residual, factors, threads); });
        }
      }
    }
  }
  return true;
}

[[maybe_unused]] const bool kRegistered = register_all();

}  // namespace
}  // namespace mf::ccd
