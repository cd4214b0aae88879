// The kernels of als on the train part of a Netflix look-alike (99.07 of 100.48 million ratings),
// timed by CUDA events: as in the paper's figures 4, 5, 7 (a) and 7 (b), and whole iterations. The
// first benchmark of a number of factors also makes and uploads the data. $MFBENCH_BENCH_LIKE names
// another look-alike; rows of more than 256 factors take a smaller one.
#include <benchmark/benchmark.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <string>

#include "algorithms/als/bench/fill.hpp"
#include "algorithms/als/cumf/steps.hpp"
#include "algorithms/core/cuda/library_check.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "datasets/split/split.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/bench_env.hpp"

namespace mf::als {
namespace {

constexpr int kRepeats = 3;                       // timed runs; the mean is reported
constexpr double kTestFraction = 1.408 / 100.48;  // as large as Netflix's probe set

using Counter = benchmark::Counter;

const Ratings& train() {
  static const Split split = [] {
    SplitSpec spec;
    spec.test_fraction = kTestFraction;
    return make_split(
        make_look_alike(env("MFBENCH_BENCH_LIKE", "netflix"), 1.0, 1, hardware_threads()), spec,
        hardware_threads());
  }();
  return split.train;
}

// The half-steps, ready to run. The last one is kept: the library calls a benchmark several times.
struct Prepared {
  cuda::Stream stream;
  ThreadTeam team{hardware_threads()};
  Context context;
  AlsSettings settings;
  std::unique_ptr<DeviceSteps> steps;

  Prepared(const Json& changes, bool cg_through_l1)
      : settings(read_als_settings(default_params(als_params(), changes))) {
    context.team = &team;
    context.stream = stream.get();
    cuda::DeviceRatings ratings(train(), team, stream.get());
    InitSpec init;
    init.kind = InitKind::uniform;
    const Model initial =
        initial_model(train().n_users(), train().n_items(), settings.common.factors,
                      ModelKind::plain, mean_rating(train()), init, hardware_threads());
    steps = std::make_unique<DeviceSteps>(settings, ratings, DeviceResidual{}, initial, context,
                                          cg_through_l1);
  }
};

Prepared& prepared(const Json& changes, bool cg_through_l1 = false) {
  static std::string kept;
  static std::unique_ptr<Prepared> one;
  const std::string key = changes.dump() + (cg_through_l1 ? "l1" : "");
  if (key != kept) {
    one.reset();
    kept.clear();
    one = std::make_unique<Prepared>(changes, cg_through_l1);
    kept = key;
  }
  return *one;
}

template <class Body>
double timed(cudaStream_t stream, Body&& body) {
  static const cuda::Event start;
  static const cuda::Event stop;
  start.record(stream);
  body();
  stop.record(stream);
  stop.synchronize();
  return stop.seconds_since(start);
}

Counter rate(double per_iteration) {
  return Counter(per_iteration, Counter::kIsIterationInvariantRate);
}

// FLOPs of forming all A_u: as the paper counts (all of A), and of its symmetric half.
double full_flops(std::int32_t factors) {
  return 2.0 * static_cast<double>(train().nnz()) * factors * factors;
}
double half_flops(std::int32_t factors) {
  return static_cast<double>(train().nnz()) * factors * (factors + 1.0);
}

// Figure 4 and 7 (a): get_hermitian of a whole side.
void hermitian(benchmark::State& state, Which which, const Json& changes, HermitianPart part) {
  Prepared& now = prepared(changes);
  const auto run = [&] {
    return timed(now.stream.get(), [&] {
      for (const RowBatch& batch : now.steps->batches(which)) now.steps->form(which, batch, part);
    });
  };
  run();
  for (auto _ : state) state.SetIterationTime(run());
  if (part == HermitianPart::load) return;
  const std::int32_t f = now.settings.common.factors;
  state.counters["flops"] = rate(full_flops(f));
  state.counters["symmetric_flops"] = rate(half_flops(f));
}

// Figure 7 (a), the other bar: matrix products f x k x f of one size each, k being the mean number
// of ratings of a row; so many that they take a few gigabytes.
void gemm(benchmark::State& state, Which which, int factors) {
  const std::int64_t rows = which == Which::users ? train().n_users() : train().n_items();
  const int k = static_cast<int>(train().nnz() / rows);
  const std::int64_t values = std::int64_t{factors} * k;
  const std::int64_t squares = std::int64_t{factors} * factors;
  const int count = static_cast<int>(std::min(rows, std::int64_t{1500000000} / (values + squares)));
  const cuda::Stream stream;
  cuda::DeviceBuffer<float> a(values * count);
  cuda::DeviceBuffer<float> c(squares * count);
  launch_fill(a.data(), values * count, stream.get());
  cublasHandle_t handle = nullptr;
  MF_LIBRARY(cublasCreate(&handle));
  MF_LIBRARY(cublasSetStream(handle, stream.get()));
  MF_LIBRARY(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));  // fp32, no tensor cores
  const float one = 1.0F;
  const float zero = 0.0F;
  const auto run = [&] {
    return timed(stream.get(), [&] {
      MF_LIBRARY(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, factors, factors, k,
                                           &one, a.data(), factors, values, a.data(), factors,
                                           values, &zero, c.data(), factors, squares, count));
    });
  };
  run();
  for (auto _ : state) state.SetIterationTime(run());
  state.counters["flops"] = rate(2.0 * static_cast<double>(squares) * k * count);
  state.counters["products"] = count;
  cublasDestroy(handle);
}

// Figure 5: only the solver, both half-steps of one iteration. CG takes all its steps: repeated
// from its own solution it would soon end early.
void solver(benchmark::State& state, const Json& changes, bool cg_through_l1) {
  Json exact = changes;
  exact["cg_tolerance"] = 0;
  Prepared& now = prepared(exact, cg_through_l1);
  const auto run = [&] {
    double seconds = 0;
    for (const Which which : {Which::users, Which::items}) {
      for (const RowBatch& batch : now.steps->batches(which)) {
        now.steps->form(which, batch);
        now.steps->bias(which, batch);
        seconds += timed(now.stream.get(), [&] { now.steps->solve(which, batch); });
      }
    }
    return seconds;
  };
  run();
  for (auto _ : state) state.SetIterationTime(run());
}

// Figure 7 (b): bytes of A that CG reads, f_s + 1 times, when no row ends early.
void cg_bytes(benchmark::State& state, Which which, const Json& changes) {
  Json exact = changes;
  exact["cg_tolerance"] = 0;
  Prepared& now = prepared(exact);
  double bytes = 0;
  const auto run = [&] {
    bytes = 0;
    double seconds = 0;
    for (const RowBatch& batch : now.steps->batches(which)) {
      now.steps->form(which, batch);
      now.steps->bias(which, batch);
      seconds += timed(now.stream.get(), [&] { now.steps->solve(which, batch); });
      bytes += static_cast<double>(batch.rows.size()) *
               static_cast<double>(a_bytes(now.settings.a_storage, now.settings.common.factors)) *
               (now.settings.common.cg.steps + 1);
    }
    return seconds;
  };
  run();
  for (auto _ : state) state.SetIterationTime(run());
  state.counters["bytes"] = rate(bytes);
}

// The other bar: cudaMemcpy, bytes read and written.
void copy(benchmark::State& state) {
  constexpr std::size_t kBytes = std::size_t{8} << 30;
  const cuda::Stream stream;
  cuda::DeviceBuffer<std::byte> from(kBytes);
  cuda::DeviceBuffer<std::byte> to(kBytes);
  MF_CUDA(cudaMemsetAsync(from.data(), 1, kBytes, stream.get()));
  const auto run = [&] {
    return timed(stream.get(), [&] {
      MF_CUDA(
          cudaMemcpyAsync(to.data(), from.data(), kBytes, cudaMemcpyDeviceToDevice, stream.get()));
    });
  };
  run();
  for (auto _ : state) state.SetIterationTime(run());
  state.counters["bytes"] = rate(2.0 * kBytes);
}

void iteration(benchmark::State& state, const Json& changes) {
  Prepared& now = prepared(changes);
  const auto run = [&] {
    return timed(now.stream.get(), [&] {
      now.steps->half_step(Which::users, now.context);
      now.steps->half_step(Which::items, now.context);
    });
  };
  run();
  for (auto _ : state) state.SetIterationTime(run());
  state.counters["ratings"] = rate(2.0 * static_cast<double>(train().nnz()));
}

std::string labelled(std::string name, const Json& values) {
  for (const auto& [key, value] : values.items()) {
    name += "/" + key + ":" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return name;
}

template <class Body>
void add(const std::string& name, const Json& labels, Body body) {
  benchmark::RegisterBenchmark(labelled(name, labels).c_str(), body)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(kRepeats);
}

const char* name_of(Which which) { return which == Which::users ? "x" : "theta"; }

// A row is never cut, as in the paper.
void add_figure_4(int factors) {
  const std::pair<const char*, HermitianPart> parts[] = {
      {"load", HermitianPart::load},
      {"compute", HermitianPart::compute},
      {"load_compute", HermitianPart::load_compute},
      {"all", HermitianPart::all}};
  for (const char* load : {"coalesced", "noncoalesced_l1", "noncoalesced_nol1"}) {
    const Json changes = {{"factors", factors}, {"load", load}, {"split_rows", 0}};
    for (const Which which : {Which::users, Which::items}) {
      for (const auto& [part_name, part] : parts) {
        add("hermitian",
            {{"factors", factors}, {"side", name_of(which)}, {"load", load}, {"part", part_name}},
            [=, p = part](benchmark::State& state) { hermitian(state, which, changes, p); });
      }
    }
  }
}

void add_figure_5(int factors) {
  for (const char* solver_name : {"lu", "cholesky"}) {
    const Json changes = {{"factors", factors}, {"solver", solver_name}};
    add("solve", changes, [=](benchmark::State& state) { solver(state, changes, false); });
  }
  for (const char* storage : {"fp32", "fp16"}) {
    for (const bool l1 : {false, true}) {
      const Json changes = {{"factors", factors}, {"solver", "cg"}, {"a_storage", storage}};
      Json labels = changes;
      labels["l1"] = l1 ? 1 : 0;
      add("solve", labels, [=](benchmark::State& state) { solver(state, changes, l1); });
    }
  }
}

void add_figure_7(int factors) {
  for (const Which which : {Which::users, Which::items}) {
    add("gemm", {{"factors", factors}, {"side", name_of(which)}},
        [=](benchmark::State& state) { gemm(state, which, factors); });
    for (const char* storage : {"fp32", "fp16"}) {
      const Json changes = {{"factors", factors}, {"a_storage", storage}};
      add("cg", {{"factors", factors}, {"side", name_of(which)}, {"a_storage", storage}},
          [=](benchmark::State& state) { cg_bytes(state, which, changes); });
    }
  }
}

void add_iteration(const Json& changes) {
  add("iteration", changes, [=](benchmark::State& state) { iteration(state, changes); });
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const int factors : {32, 64, 100, 128, 256}) {
    add_figure_4(factors);
    add_figure_5(factors);
    add_figure_7(factors);
    for (const char* solver_name : {"lu", "cholesky", "cg"}) {
      add_iteration({{"factors", factors}, {"solver", solver_name}});
    }
    add_iteration({{"factors", factors}, {"solver", "cg"}, {"a_storage", "fp16"}});
  }
  for (const int factors : {320, 512, 1024, 2048}) {
    for (const Which which : {Which::users, Which::items}) {
      add("hermitian", {{"factors", factors}, {"side", name_of(which)}},
          [=](benchmark::State& state) {
            hermitian(state, which, {{"factors", factors}}, HermitianPart::all);
          });
    }
    for (const char* solver_name : {"lu", "cholesky", "cg"}) {
      add_iteration({{"factors", factors}, {"solver", solver_name}});
    }
    add_iteration({{"factors", factors}, {"solver", "cg"}, {"a_storage", "fp16"}});
  }
  add("copy", Json::object(), copy);
  for (const char* load : {"coalesced", "noncoalesced_l1", "noncoalesced_nol1"}) {
    for (const int split : {0, 1024, 2048, 4096, 16384}) {
      add_iteration({{"factors", 100}, {"load", load}, {"split_rows", split}});
    }
  }
  return true;
}();

}  // namespace
}  // namespace mf::als
