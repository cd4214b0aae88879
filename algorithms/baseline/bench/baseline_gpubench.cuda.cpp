// The inverse of ease by the sizes of its blocks, beside the Cholesky factor of cuSOLVER, which is
// a third of the operations. Timed by CUDA events. flops: operations a second, n^3 for the inverse.
//
//   factor/<n>
//   inverse/<n>/<width>/<strip>
//
// MFBENCH_BENCH_ROWS: other numbers of rows than 26744, with commas between them.
#include <benchmark/benchmark.h>

#include <sstream>

#include "algorithms/baseline/test/known_inverse.hpp"
#include "testing/bench_env.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::baseline {
namespace {

double cube(std::int64_t n) { return static_cast<double>(n) * static_cast<double>(n * n); }

void factor(benchmark::State& state, std::int64_t n) {
  test::KnownInverse known(n);
  cusolverDnHandle_t solver = nullptr;
  cusolverDnParams_t params = nullptr;
  MF_LIBRARY(cusolverDnCreate(&solver));
  MF_LIBRARY(cusolverDnSetStream(solver, known.stream().get()));
  MF_LIBRARY(cusolverDnCreateParams(&params));
  std::size_t on_device = 0, on_host = 0;
  MF_LIBRARY(cusolverDnXpotrf_bufferSize(solver, params, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_32F,
                                         known.a(), n, CUDA_R_32F, &on_device, &on_host));
  cuda::DeviceBuffer<char> workspace(static_cast<std::int64_t>(on_device));
  std::vector<char> host(on_host);
  cuda::DeviceBuffer<int> info(1);
  for (auto _ : state) {
    known.make();
    state.SetIterationTime(cuda::device_seconds(known.stream(), [&] {
      MF_LIBRARY(cusolverDnXpotrf(solver, params, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_32F, known.a(),
                                  n, CUDA_R_32F, workspace.data(), on_device, host.data(), on_host,
                                  info.data()));
    }));
  }
  state.counters["flops"] = cuda::rate_counter(cube(n) / 3);
  cusolverDnDestroyParams(params);
  cusolverDnDestroy(solver);
}

void inverse(benchmark::State& state, std::int64_t n, DeviceInverse::Sizes sizes) {
  test::KnownInverse known(n);
  DeviceInverse device(n, sizes, known.stream().get());
  for (auto _ : state) {
    known.make();
    state.SetIterationTime(
        cuda::device_seconds(known.stream(), [&] { device.invert(known.a(), n, n); }));
  }
  state.counters["flops"] = cuda::rate_counter(cube(n));
}

template <class Run>
void add(const std::string& name, const Run& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Iterations(2)
      ->Unit(benchmark::kMillisecond);
}

void add_all() {
  std::istringstream rows(env("MFBENCH_BENCH_ROWS", "26744"));
  for (std::string text; std::getline(rows, text, ',');) {
    const std::int64_t n = std::stoll(text);
    add("factor/" + text, [n](benchmark::State& state) { factor(state, n); });
    for (const std::int64_t width : {256, 512, 1024, 2048}) {
      for (const std::int64_t strip : {std::int64_t{2048}, std::int64_t{16384}, n}) {
        add("inverse/" + text + "/" + std::to_string(width) + "/" + std::to_string(strip),
            [=](benchmark::State& state) {
              inverse(state, n, {width, strip});
            });
      }
    }
  }
}

[[maybe_unused]] const bool kAdded = (add_all(), true);

}  // namespace
}  // namespace mf::baseline
