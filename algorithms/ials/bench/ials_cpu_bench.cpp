// ials_cpu, each part separately and all together; some counters are per thread and say so.
//
//   dense/<isa>/<f>/<threads>       G v of 64 rows: GFLOP/s of a matrix product in tiles
//   pairs/<isa>/<f>/<threads>       sums over the pairs of a row, its 256 rows of factors in a
//   cache:
//                                   ns a pair and step on a thread; of_dense: their rate as a share
//   epoch/<solver>/<f>/<threads>    whole epochs (blocks: ials_pp_cpu); of_dense: work_per_epoch()
//   as a share of the best
//
// On a look-alike of Netflix at 1/20 of its ratings; MFBENCH_BENCH_LIKE and MFBENCH_BENCH_SCALE
// change it, MFBENCH_BENCH_FACTORS ("64,128") and MFBENCH_BENCH_THREADS ("1,2,16") the rest.
#include <benchmark/benchmark.h>

#include <chrono>
#include <map>
#include <string>

#include "algorithms/core/prepare.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/ials/cpu/cg_step.hpp"
#include "base/json/json.hpp"
#include "testing/bench_env.hpp"

namespace mf::ials::cpu {
namespace {

constexpr std::int64_t kDenseRows = 64;
constexpr std::int64_t kPairs = 256;
using Clock = std::chrono::steady_clock;

const Ratings& ratings() { return bench_look_alike("netflix", "0.05"); }

// Seconds of `repeats` calls of body(thread) on all threads, the best of several rounds.
double best_seconds(int threads, int repeats, const std::function<void(int)>& body) {
  ThreadTeam team(threads);
  double best = 1e30;
  for (int round = 0; round < 8; ++round) {
    const auto start = Clock::now();
    team.run([&](int t) {
      for (int k = 0; k < repeats; ++k) body(t);
    });
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

// Operations a second.
double dense_rate(Isa isa, int factors, int threads) {
  static std::map<std::tuple<Isa, int, int>, double> known;
  double& rate = known[{isa, factors, threads}];
  if (rate != 0) return rate;
  const std::int64_t stride = als::cpu::padded_stride(factors);
  const PairKernels kernels = pair_kernels(isa);
  const AlignedVector<float> gram(stride * stride, 0.5F), v(kDenseRows * stride, 0.5F);
  const AlignedVector<float> regs(kDenseRows, 0.5F);
  std::vector<AlignedVector<float>> out(threads, AlignedVector<float>(kDenseRows * stride, 0.0F));
  constexpr int kRepeats = 200;
  const double s = best_seconds(threads, kRepeats, [&](int t) {
    kernels.dense(gram.data(), stride, factors, regs.data(), v.data(), kDenseRows, out[t].data());
  });
  return rate = 2.0 * kRepeats * threads * kDenseRows * factors * factors / s;
}

void run_dense(benchmark::State& state, Isa isa, int factors, int threads) {
  if (!has(isa)) return state.SkipWithError("this CPU lacks it");
  double rate = 0;
  for (auto _ : state) rate = dense_rate(isa, factors, threads);
  state.counters["GFLOP/s"] = rate * 1e-9;
}

void run_pairs(benchmark::State& state, Isa isa, int factors, int threads) {
  if (!has(isa)) return state.SkipWithError("this CPU lacks it");
  const std::int64_t stride = als::cpu::padded_stride(factors);
  const AlignedVector<float> table(kPairs * stride, 0.01F), v(stride, 0.01F);
  AlignedVector<std::int32_t> others(kPairs);
  for (std::int64_t k = 0; k < kPairs; ++k) others[k] = static_cast<std::int32_t>(k * 37 % kPairs);
  const AlignedVector<float> weights(kPairs, 1.0F);
  std::vector<AlignedVector<float>> sums(threads, AlignedVector<float>(stride, 0.0F));
  const PairsKernel kernel = pair_kernels(isa).product;
  constexpr int kRepeats = 500;
  double s = 1e30;
  for (auto _ : state) {
    s = std::min(s, best_seconds(threads, kRepeats, [&](int t) {
                   kernel({table.data(), stride, factors}, {others.data(), weights.data(), kPairs},
                          v.data(), sums[t].data());
                 }));
  }
  const double pairs = static_cast<double>(kRepeats) * kPairs;
  state.counters["ns/pair"] = s / pairs * 1e9;
  const double rate = 4.0 * factors * pairs * threads / s;
  state.counters["GFLOP/s"] = rate * 1e-9;
  state.counters["of_dense"] = rate / dense_rate(isa, factors, threads);
}

void run_epochs(benchmark::State& state, const std::string& name, const Json& changes, int factors,
                int threads) {
  Json all = changes;
  all["factors"] = factors;
  const Params params = default_params(find_algorithm(name).params, all);
  ThreadTeam team(threads);
  Context context;
  context.team = &team;
  const auto algorithm =
      prepare_algorithm(name, params, ratings(),
                        initial_model(ratings().n_users(), ratings().n_items(), factors,
                                      ModelKind::plain, 0, {InitKind::normal, 0.1, 1}, threads),
                        context);
  EpochArgs args;
  std::int64_t updates = 0;
  const auto begin = Clock::now();
  for (auto _ : state) {
    updates += algorithm->run_epoch(args, context);
    ++args.epoch;
  }
  const double s = std::chrono::duration<double>(Clock::now() - begin).count();
  state.SetItemsProcessed(updates);
  const double rate =
      algorithm->work_per_epoch().flops * static_cast<double>(state.iterations()) / s;
  state.counters["GFLOP/s"] = rate * 1e-9;
  state.counters["of_dense"] = rate / dense_rate(choose_isa("auto"), factors, threads);
}

bool register_all() {
  for (const int f : int_list(env("MFBENCH_BENCH_FACTORS", "64,128"))) {
    for (const int t : bench_threads()) {
      const std::string of = "/" + std::to_string(f) + "/" + std::to_string(t);
      for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
        add_bench("dense/" + to_string(isa) + of,
                  [=](auto& state) { run_dense(state, isa, f, t); });
        add_bench("pairs/" + to_string(isa) + of,
                  [=](auto& state) { run_pairs(state, isa, f, t); });
      }
      for (const std::string solver : {"cg", "cholesky"}) {
        add_bench("epoch/" + solver + of, [=](auto& state) {
          run_epochs(state, "ials_cpu", {{"solver", solver}}, f, t);
        });
      }
      add_bench("epoch/blocks" + of,
                [=](auto& state) { run_epochs(state, "ials_pp_cpu", Json::object(), f, t); });
    }
  }
  return true;
}

const bool kRegistered = register_all();

}  // namespace
}  // namespace mf::ials::cpu
