// ccd++_cpu against the memory's speed, measured in the same program.
//
//   triad/<threads>                       a = b + s c, arrays of 256 MiB: bytes a second, 3 words
//   an
//                                         element (what is written is not counted as read)
//   update/<threads>                      a = a + s: 2 words an element, as R is updated
//   epoch/<isa>/<residual>/<f>/<threads>  bytes: the compulsory ones of an epoch a second;
//                                         of_triad, of_update: as a share of the above
//
// On a look-alike of Netflix at 1/5 of its ratings, whose residuals are larger than any cache;
// MFBENCH_BENCH_LIKE and MFBENCH_BENCH_SCALE change it, MFBENCH_BENCH_FACTORS ("40") and
// MFBENCH_BENCH_THREADS ("1,16") the rest.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "algorithms/core/prepare.hpp"
#include "algorithms/core/registry.hpp"
#include "base/host/isa.hpp"
#include "base/json/json.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/bench_env.hpp"

namespace mf::ccd {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kArray = 64 << 20;  // floats
constexpr std::int64_t kChunk = 1 << 16;

enum class Stream { triad, update };

// Bytes a second, the best of several rounds.
double measure(Stream kind, int threads) {
  ThreadTeam team(threads);
  const bool triad = kind == Stream::triad;
  AlignedVector<float> a(kArray), b(triad ? kArray : 0), c(triad ? kArray : 0);
  const auto for_all = [&](const auto& body) { team.for_chunks(kArray, kChunk, body); };
  for_all([&](std::int64_t begin, std::int64_t end) {
    for (auto* array : {&a, &b, &c}) {
      if (!array->empty()) std::fill(array->data() + begin, array->data() + end, 1.0F);
    }
  });
  double best = 0;
  for (int round = 0; round < 10; ++round) {
    const auto start = Clock::now();
    for_all([&](std::int64_t begin, std::int64_t end) {
      float* to = a.data();
      const float* x = b.data();
      const float* y = c.data();
      if (triad) {
        for (std::int64_t i = begin; i < end; ++i) to[i] = x[i] + 0.5F * y[i];
      } else {
        for (std::int64_t i = begin; i < end; ++i) to[i] += 0.5F;
      }
    });
    benchmark::DoNotOptimize(a.data());
    const double s = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, (triad ? 3 : 2) * 4.0 * static_cast<double>(kArray) / s);
  }
  return best;
}

double stream_rate(Stream kind, int threads) {
  static std::map<std::pair<Stream, int>, double> known;
  double& rate = known[{kind, threads}];
  if (rate == 0) rate = measure(kind, threads);
  return rate;
}

void run_stream(benchmark::State& state, Stream kind, int threads) {
  double best = 0;
  for (auto _ : state) best = std::max(best, measure(kind, threads));
  state.counters["bytes"] = best;
}

// Made when the first epoch benchmark runs, and kept.
const Ratings& ratings() {
  static const Dataset data =
      make_look_alike(env("MFBENCH_BENCH_LIKE", "netflix"),
                      std::stod(env("MFBENCH_BENCH_SCALE", "0.2")), 1, hardware_threads());
  return data.ratings;
}

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
  state.counters["of_triad"] = rate / stream_rate(Stream::triad, threads);
  state.counters["of_update"] = rate / stream_rate(Stream::update, threads);
}

void add(const std::string& name, const std::function<void(benchmark::State&)>& body) {
  benchmark::RegisterBenchmark(name.c_str(), body)->UseRealTime()->Unit(benchmark::kMillisecond);
}

bool register_all() {
  const auto threads_list = int_list(
      env("MFBENCH_BENCH_THREADS",
          hardware_threads() > 1 ? "1," + std::to_string(hardware_threads()) : std::string("1")));
  for (const int threads : threads_list) {
    const std::string count = std::to_string(threads);
    add("triad/" + count, [=](benchmark::State& s) { run_stream(s, Stream::triad, threads); });
    add("update/" + count, [=](benchmark::State& s) { run_stream(s, Stream::update, threads); });
    for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
      for (const std::string residual : {"separate", "fused"}) {
        for (const int factors : int_list(env("MFBENCH_BENCH_FACTORS", "40"))) {
          add("epoch/" + to_string(isa) + "/" + residual + "/" + std::to_string(factors) + "/" +
                  count,
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
