// An epoch of ccd++ on the Netflix look-alike's train part, timed by CUDA events, and a copy of as
// much memory as the ceiling. Counters: rating updates a second, the compulsory bytes a second, and
// their share of the copy's rate.
//
//   copy                    400 MB read and written
//   ccd++/<parameters>      epochs
//
// MFBENCH_BENCH_LIKE: another look-alike.
#include <benchmark/benchmark.h>

#include "algorithms/core/cuda/memory.hpp"
#include "testing/bench_env.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::ccd {
namespace {

constexpr int kEpochs = 5;
constexpr std::int64_t kCopyBytes = 400'000'000;

// Bytes read and written a second.
double measure_copy() {
  const cuda::Stream stream;
  cuda::DeviceBuffer<std::byte> from(kCopyBytes);
  cuda::DeviceBuffer<std::byte> to(kCopyBytes);
  MF_CUDA(cudaMemsetAsync(from.data(), 1, from.bytes(), stream.get()));
  double best = 0;
  for (int round = 0; round < 20; ++round) {
    const double s = cuda::device_seconds(stream, [&] {
      MF_CUDA(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice,
                              stream.get()));
    });
    best = std::max(best, 2 * static_cast<double>(kCopyBytes) / s);
  }
  return best;
}

double copy_rate() {
  static const double rate = measure_copy();
  return rate;
}

void run_copy(benchmark::State& state) {
  double best = 0;
  for (auto _ : state) {
    best = std::max(best, measure_copy());
    state.SetIterationTime(2 * static_cast<double>(kCopyBytes) / best);
  }
  state.counters["bytes"] = best;
}

void add(const Json& changes) {
  cuda::add_epochs("ccd++", {env("MFBENCH_BENCH_LIKE", "netflix"), "ccd++", changes},
                   [](benchmark::State& state, const Algorithm& algorithm) {
                     state.counters["of_copy"] =
                         cuda::rate_counter(algorithm.work_per_epoch().bytes / copy_rate());
                   })
      ->Iterations(kEpochs)
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool kRegistered = [] {
  benchmark::RegisterBenchmark("copy", run_copy)->UseManualTime()->Iterations(1);
  for (const char* residual : {"separate", "fused"}) {
    for (const int factors : {40, 100}) add({{"factors", factors}, {"residual", residual}});
  }
  for (const int inner : {2, 5}) add({{"factors", 40}, {"inner_iterations", inner}});
  return true;
}();

}  // namespace
}  // namespace mf::ccd
