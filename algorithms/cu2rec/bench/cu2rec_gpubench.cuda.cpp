// Iterations of the family and its draws, timed by CUDA events.
//
// The iterations run as the harness runs them: replayed graphs of 64, on the train part of the
// Netflix look-alike (480,189 users, 17,770 items) and of ml-100k's. Counters: updates a second,
// and the compulsory bytes a second (README.md derives them).
#include <curand_kernel.h>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/cu2rec/bench/draws.hpp"
#include "algorithms/cu2rec/kernels.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::cu2rec {
namespace {

constexpr std::int64_t kIterations = 128;  // of the algorithm, in one timed run
constexpr int kRepeats = 5;                // timed runs; the mean is reported

// One draw a user of Netflix: a state of 48 bytes read and written, or computed.
void draws(benchmark::State& state, bool counter) {
  constexpr int kUsers = 480189;
  const cuda::Stream stream;
  cuda::DeviceBuffer<curandStateXORWOW> states(kUsers);
  cuda::DeviceBuffer<std::uint32_t> out(kUsers);
  launch_init_states(states.data(), kUsers, 1, stream.get());
  std::int64_t iteration = 0;
  const auto queue = [&] {
    for (int i = 0; i < kIterations; ++i) {
      if (counter) {
        launch_counter_draws(1, ++iteration, out.data(), kUsers, stream.get());
      } else {
        launch_curand_draws(states.data(), out.data(), kUsers, stream.get());
      }
    }
  };
  const auto run = [&] {
    return cuda::device_seconds(stream, queue) / static_cast<double>(kIterations);
  };
  run();
  for (auto _ : state) state.SetIterationTime(run());
  state.counters["draws"] = cuda::rate_counter(kUsers);
}

void add(const std::string& like, const std::string& name, const Json& changes) {
  cuda::add_epochs(like + "/" + name, {like, name, changes, kIterations})
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
  return true;
}();

}  // namespace
}  // namespace mf::cu2rec
