// Epochs of gpusgd and newgpusgd, timed by CUDA events, on the train part of look-alikes of ml-100k
// and ml-10m. Counters: updates a second, and the serial steps of an epoch with the time of one
// (NOTES.md says what a step is).
#include "algorithms/gpusgd/device_arrangement.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::gpusgd {
namespace {

constexpr int kRepeats = 3;  // timed runs; the mean is reported

void count_steps(benchmark::State& state, const Algorithm& algorithm) {
  const auto serial = algorithm.facts().at("serial_steps").get<double>();
  state.counters["serial_steps"] = serial;
  state.counters["s_per_step"] = benchmark::Counter(
      serial, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// The partition, as prepare makes it of ratings that are on the device: of the prepare clock.
void partition(benchmark::State& state, const std::string& like, Scheme scheme) {
  const auto split = cuda::look_alike_split(like);
  const Params params =
      default_params(find_algorithm(kSchemes.of(scheme)).params, {{"blocks", state.range(0)}});
  const Settings settings = read_settings(scheme, params);
  ThreadTeam team(hardware_threads());
  const cuda::Stream stream;
  cuda::DeviceRatings ratings(split->train, team, stream.get());
  ratings.keep();
  for (auto _ : state) {
    state.SetIterationTime(cuda::device_seconds(
        stream, [&] { arrange_on_device(settings, ratings, 1, stream.get()); }));
  }
  state.counters["ratings"] = cuda::rate_counter(static_cast<double>(split->train.nnz()));
}

void add(const std::string& like, const std::string& name, const Json& changes) {
  cuda::add_epochs(like + "/" + name, {like, name, changes}, count_steps)
      ->Unit(benchmark::kMillisecond)
      ->Iterations(kRepeats);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const char* like : {"ml-100k", "ml-10m"}) {
    for (const int blocks : {64, 1024}) {
      for (const int factors : {16, 32, 256}) {
        for (const char* precision : {"fp32", "fp64"}) {
          const Json base = {{"blocks", blocks}, {"factors", factors}, {"precision", precision}};
          add(like, "newgpusgd", base);
          for (const int threads : {16, 256}) {
            Json changes = base;
            changes["threads_per_block"] = threads;
            add(like, "gpusgd", changes);
          }
        }
      }
    }
  }
  for (const Scheme scheme : {Scheme::tree, Scheme::grouped}) {
    benchmark::RegisterBenchmark(
        scheme == Scheme::grouped ? "netflix/partition/square" : "netflix/partition", partition,
        "netflix", scheme)
        ->Arg(64)
        ->Arg(1024)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(kRepeats);
  }
  return true;
}();

}  // namespace
}  // namespace mf::gpusgd
