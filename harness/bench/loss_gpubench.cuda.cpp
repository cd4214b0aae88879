// What a loss every few iterations saves cu2rec: an iteration, and the loss over the whole training
// part after it.
//   loss/like:<set>/factors:<f>/part:iteration   one iteration of ebgtg, a thread a user, as the
//                                                harness replays it; by CUDA events
//   loss/.../part:loss                           the post's kernels: a thread a user writes errors,
//                                                a reduction adds them
//   loss/.../part:fused                          ours: errors and sums in one kernel
// A loss is a whole evaluation: launches, copy of the partial sums, additions on the host, as in
// the post; by the clock of the host. Data: the training part, four fifths, of look-alikes.
#include <benchmark/benchmark.h>

#include <chrono>
#include <vector>

#include "harness/evaluate/device/device_evaluator.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf {
namespace {

constexpr std::int64_t kIterations = 128;  // of the algorithm, in one timed run
constexpr int kRepeats = 20;               // timed runs; the mean is reported

// All users and items of the training part are known.
std::vector<std::uint8_t> all_known(std::int64_t count) {
  return std::vector<std::uint8_t>(static_cast<std::size_t>(count), 1);
}

void whole_loss(benchmark::State& state, const cuda::BenchCase& what, LossMethod method) {
  cuda::BenchRunner& runner = cuda::bench_runner(what);
  runner.run(1);
  const Ratings& train = runner.split->train;
  const auto users = all_known(train.n_users());
  const auto items = all_known(train.n_items());
  cudaStream_t stream = runner.stream.get();
  DeviceEvaluator evaluator(users, items, stream);
  const FactorView model = runner.algorithm->factors();
  PredictionRule rule;
  rule.biased = true;
  rule.mean = static_cast<float>(mean_rating(train));
  const auto run = [&] {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(evaluator.evaluate(model, rule, train, stream, method).rmse);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  run();  // uploads the part
  for (auto _ : state) state.SetIterationTime(run());
  state.counters["ratings"] = cuda::rate_counter(static_cast<double>(train.nnz()));
}

void iteration(benchmark::State& state, const cuda::BenchCase& what) {
  cuda::BenchRunner& runner = cuda::bench_runner(what);
  runner.run(kIterations);
  for (auto _ : state) state.SetIterationTime(runner.run(kIterations));
}

template <class Body>
void add(const std::string& name, Body body) {
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(kRepeats);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const char* like : {"ml-100k", "ml-20m"}) {
    for (const int factors : {50, 300}) {
      const cuda::BenchCase what{
          like, "ebgtg", {{"factors", factors}, {"stride", 250}}, kIterations};
      const std::string name =
          std::string("loss/like:") + like + "/factors:" + std::to_string(factors) + "/part:";
      add(name + "iteration", [=](benchmark::State& state) { iteration(state, what); });
      add(name + "loss",
          [=](benchmark::State& state) { whole_loss(state, what, LossMethod::thread_per_user); });
      add(name + "fused",
          [=](benchmark::State& state) { whole_loss(state, what, LossMethod::fused); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace mf
