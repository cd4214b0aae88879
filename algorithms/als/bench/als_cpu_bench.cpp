// GFLOP/s of forming A_u and b_u, counting f (f + 1) operations a rating: only the symmetric half.
//
//   formation/<side>/<isa>/<f>/<threads>   of all rows of a side
//
// of_sgemm: as a share of C += A B of 1024 x 1024 matrices by Eigen, one product a thread, which is
// what the machine reaches on dense matrices.
//
// On a look-alike of Netflix at 1/20 of its ratings; MFBENCH_BENCH_LIKE and MFBENCH_BENCH_SCALE
// change it, MFBENCH_BENCH_FACTORS ("100,128") and MFBENCH_BENCH_THREADS ("1,2,16") the rest.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "algorithms/als/bench/sgemm.hpp"
#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/als/sides.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "testing/bench_env.hpp"

namespace mf::als::cpu {
namespace {

constexpr int kSgemmSize = 1024;
using Clock = std::chrono::steady_clock;

const Ratings& ratings() { return bench_look_alike("netflix", "0.05"); }

const Sides& sides() {
  static const Sides both = [] {
    ThreadTeam team(hardware_threads());
    return Sides(ratings(), CenterKind::none, {}, team);
  }();
  return both;
}

bool skipped(benchmark::State& state, Isa isa) {
  if (!has(isa)) state.SkipWithError("this CPU lacks it");
  return !has(isa);
}

Sgemm sgemm_of(Isa isa) {
  return isa == Isa::avx512 ? avx512_sgemm() : isa == Isa::avx2 ? avx2_sgemm() : scalar_sgemm();
}

// Operations a second of one product a thread, each on its own matrices; the best of several
// rounds. Measured once for each number of threads.
double measure_sgemm(Isa isa, int threads) {
  ThreadTeam team(threads);
  constexpr std::int64_t count = kSgemmSize * kSgemmSize;
  std::vector<AlignedVector<float>> matrices(threads);
  team.run([&](int t) { matrices[t].assign(3 * count, 0.5F); });
  const Sgemm multiply = sgemm_of(isa);
  double best = 0;
  for (int round = 0; round < 8; ++round) {
    const auto start = Clock::now();
    team.run([&](int t) {
      float* a = matrices[t].data();
      for (int k = 0; k < 4; ++k) multiply(kSgemmSize, a, a + count, a + 2 * count);
    });
    const double s = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, 4.0 * 2 * kSgemmSize * static_cast<double>(count) * threads / s);
  }
  return best;
}

double sgemm_rate(Isa isa, int threads) {
  static std::map<std::pair<Isa, int>, double> known;
  double& rate = known[{isa, threads}];
  if (rate == 0) rate = measure_sgemm(isa, threads);
  return rate;
}

// Every thread takes the rows that als_cpu gives it, and forms them, without solving.
void form_all(const Side& side, const RowPlan& plan, const FormationKernels& kernels,
              const FactorTable& factors, std::vector<std::unique_ptr<Workspace>>& work,
              ThreadTeam& team) {
  const auto rows = std::ssize(plan.rows);
  std::atomic<std::int64_t> next{0};
  const auto chunks = std::ssize(plan.cuts) - 1;
  team.run([&](int thread) {
    Workspace& own = *work[thread];
    const auto form = [&](std::int64_t position) {
      const std::int32_t row = plan.rows[position];
      const std::int64_t begin = side.offsets[row];
      form_row(kernels, factors.view(),
               {&side.others[begin], &side.values[begin], side.length(row)}, own);
      benchmark::DoNotOptimize(own.a.data());
    };
    for (std::int64_t chunk = next++; chunk < chunks; chunk = next++) {
      for (std::int64_t k = plan.cuts[chunk]; k < plan.cuts[chunk + 1]; ++k) form(k);
    }
  });
  if (plan.shared > 0 || rows == 0) std::abort();  // plans are made for one thread here
}

void run_formation(benchmark::State& state, bool of_users, Isa isa, int factors, int threads) {
  if (skipped(state, isa)) return;
  const Side side = of_users ? sides().users() : sides().items();
  const Side other = of_users ? sides().items() : sides().users();
  ThreadTeam team(threads);
  const Model start = initial_model(ratings().n_users(), ratings().n_items(), factors,
                                    ModelKind::plain, 3.6, InitSpec{}, team.size());
  const FactorTable from(of_users ? start.q : start.p, factors, other, team);
  const RowPlan plan = make_row_plan(side, factors, 1);
  const FormationKernels kernels = formation_kernels(isa);
  Common common = read_common(default_params(common_params()));
  common.factors = factors;
  std::vector<std::unique_ptr<Workspace>> work(threads);
  for (auto& own : work) own = std::make_unique<Workspace>(common, Solver::cg, kernels);
  const auto begin = Clock::now();
  for (auto _ : state) form_all(side, plan, kernels, from, work, team);
  const double s = std::chrono::duration<double>(Clock::now() - begin).count();
  const double rate = static_cast<double>(side.nnz()) * factors * (factors + 1) *
                      static_cast<double>(state.iterations()) / s;
  const double sgemm = sgemm_rate(isa, threads);
  state.counters["GFLOP/s"] = rate * 1e-9;
  state.counters["sgemm_GFLOP/s"] = sgemm * 1e-9;
  state.counters["of_sgemm"] = rate / sgemm;
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * side.nnz());
}

void add_formation(bool of_users, Isa isa, int factors, int threads) {
  add_bench(
      std::string("formation/") + (of_users ? "x/" : "theta/") + to_string(isa) + "/" +
          std::to_string(factors) + "/" + std::to_string(threads),
      [=](benchmark::State& state) { run_formation(state, of_users, isa, factors, threads); });
}

bool register_all() {
  const auto factors_list = int_list(env("MFBENCH_BENCH_FACTORS", "100,128"));
  for (const int threads : bench_threads()) {
    for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
      for (const int factors : factors_list) {
        for (const bool of_users : {true, false}) add_formation(of_users, isa, factors, threads);
      }
    }
  }
  return true;
}

const bool kRegistered = register_all();

}  // namespace
}  // namespace mf::als::cpu
