// Iterations of the family and its draws, timed by CUDA events.
//
// The iterations run as the harness runs them: replayed graphs of 64, on the train part of the
// Netflix look-alike (480,189 users, 17,770 items) and of ml-100k's. Counters: updates a second,
// and the compulsory bytes a second (README.md derives them).
#include <benchmark/benchmark.h>
#include <curand_kernel.h>

#include <map>
#include <memory>
#include <string>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/cu2rec/draw.hpp"
#include "algorithms/cu2rec/kernels.hpp"
#include "datasets/split.hpp"
#include "datasets/synthetic.hpp"

namespace mf::cu2rec {
namespace {

constexpr std::int64_t kIterations = 128;  // of the algorithm, in one timed run
constexpr int kRepeats = 5;                // timed runs; the mean is reported

const Ratings& train_of(const std::string& like) {
  static std::map<std::string, Split> splits;
  if (splits.count(like) == 0) {
    splits.clear();  // one large set at a time
    const Dataset data = make_look_alike(like, 1.0, 1, hardware_threads());
    splits[like] = make_split(data, {}, hardware_threads());
  }
  return splits[like].train;
}

// An algorithm that is ready to run. The library calls a benchmark several times until its time
// suffices: the last one is kept, so that the ratings go to the device once.
struct Prepared {
  cuda::Stream stream;
  ThreadTeam team{hardware_threads()};
  Context context;
  std::unique_ptr<Algorithm> algorithm;
  std::int64_t epoch = 1;

  Prepared(const std::string& like, const std::string& name, const Json& changes) {
    const Ratings& train = train_of(like);
    const Params params = default_params(find_algorithm(name).params, changes);
    const auto factors = static_cast<std::int32_t>(params.integer("factors"));
    context.team = &team;
    context.stream = stream.get();
    algorithm = make_algorithm(name, params);
    algorithm->prepare(train,
                       initial_model(train.n_users(), train.n_items(), factors, ModelKind::biased,
                                     3.6, {}, hardware_threads()),
                       context);
  }
};

Prepared& prepared(const std::string& like, const std::string& name, const Json& changes) {
  static std::string kept;
  static std::unique_ptr<Prepared> one;
  const std::string key = like + name + changes.dump();
  if (key != kept) {
    one.reset();
    one = std::make_unique<Prepared>(like, name, changes);
    kept = key;
  }
  return *one;
}

void iterations(benchmark::State& state, const std::string& like, const std::string& name,
                const Json& changes) {
  Prepared& now = prepared(like, name, changes);
  const cuda::Event start;
  const cuda::Event stop;
  const auto run = [&] {
    start.record(now.stream.get());
    now.algorithm->run_epochs({now.epoch, 0.005}, kIterations, now.context);
    stop.record(now.stream.get());
    stop.synchronize();
    now.epoch += kIterations;
    return stop.seconds_since(start) / kIterations;
  };
  run();
  for (auto _ : state) state.SetIterationTime(run());
  const Work work = now.algorithm->work_per_epoch();
  state.counters["updates"] =
      benchmark::Counter(work.updates, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes"] =
      benchmark::Counter(work.bytes, benchmark::Counter::kIsIterationInvariantRate);
}

__global__ void curand_kernel(curandStateXORWOW* states, std::uint32_t* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  curandStateXORWOW state = states[i];
  out[i] = curand(&state);
  states[i] = state;
}

__global__ void counter_kernel(std::uint64_t seed, std::int64_t iteration, std::uint32_t* out,
                               int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = draw_counter(seed, i, iteration);
}

// One draw a user of Netflix: a state of 48 bytes read and written, or computed.
void draws(benchmark::State& state, bool counter) {
  constexpr int kUsers = 480189;
  constexpr unsigned kBlocks = (kUsers + 127) / 128;
  const cuda::Stream stream;
  cuda::DeviceBuffer<curandStateXORWOW> states(kUsers);
  cuda::DeviceBuffer<std::uint32_t> out(kUsers);
  launch_init_states(states.data(), kUsers, 1, stream.get());
  const cuda::Event start;
  const cuda::Event stop;
  std::int64_t iteration = 0;
  const auto run = [&] {
    start.record(stream.get());
    for (int i = 0; i < kIterations; ++i) {
      if (counter) {
        counter_kernel<<<kBlocks, 128, 0, stream.get()>>>(1, ++iteration, out.data(), kUsers);
      } else {
        curand_kernel<<<kBlocks, 128, 0, stream.get()>>>(states.data(), out.data(), kUsers);
      }
    }
    MF_CUDA_LAUNCHED("draws");
    stop.record(stream.get());
    stop.synchronize();
    return stop.seconds_since(start) / static_cast<double>(kIterations);
  };
  run();
  for (auto _ : state) state.SetIterationTime(run());
  state.counters["draws"] =
      benchmark::Counter(kUsers, benchmark::Counter::kIsIterationInvariantRate);
}

void init_states(benchmark::State& state) {
  constexpr int kUsers = 480189;
  const cuda::Stream stream;
  cuda::DeviceBuffer<curandStateXORWOW> states(kUsers);
  const cuda::Event start;
  const cuda::Event stop;
  for (auto _ : state) {
    start.record(stream.get());
    launch_init_states(states.data(), kUsers, 1, stream.get());
    stop.record(stream.get());
    stop.synchronize();
    state.SetIterationTime(stop.seconds_since(start));
  }
}

void add(const std::string& like, const std::string& name, Json changes) {
  std::string label = like + "/" + name;
  for (const auto& [key, value] : changes.items()) {
    label += "/" + key + ":" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  benchmark::RegisterBenchmark(
      label.c_str(), [=](benchmark::State& state) { iterations(state, like, name, changes); })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(kRepeats);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const int factors : {32, 50, 100, 128, 256, 300}) {
    for (const char* name : {"sgd_atomic", "ebltg", "ebgtg"}) {
      for (const char* mapping : {"thread", "warp"}) {
        add("netflix", name, {{"factors", factors}, {"mapping", mapping}});
      }
    }
    add("netflix", "ebgtg", {{"factors", factors}, {"mapping", "warp"}, {"rng", "counter"}});
  }
  for (const int users : {1, 4, 8, 16, 32}) {
    for (const int factors : {32, 128}) {
      add("netflix", "ebgtg",
          {{"factors", factors},
           {"mapping", "warp"},
           {"rng", "counter"},
           {"users_per_warp", users}});
    }
  }
  for (const char* mapping : {"thread", "warp"}) {
    for (const int factors : {50, 300}) {
      add("ml-100k", "ebgtg", {{"factors", factors}, {"mapping", mapping}});
      add("ml-100k", "ebgtg", {{"factors", factors}, {"mapping", mapping}, {"graph", false}});
    }
  }
  benchmark::RegisterBenchmark("draws/curand", draws, false)->UseManualTime()->Iterations(kRepeats);
  benchmark::RegisterBenchmark("draws/counter", draws, true)->UseManualTime()->Iterations(kRepeats);
  benchmark::RegisterBenchmark("draws/init_states", init_states)
      ->UseManualTime()
      ->Iterations(kRepeats);
  return true;
}();

}  // namespace
}  // namespace mf::cu2rec
