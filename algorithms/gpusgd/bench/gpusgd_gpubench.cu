// Epochs of gpusgd and newgpusgd, timed by CUDA events, on the train part of look-alikes of ml-100k
// and ml-10m. Counters: updates a second, and the serial steps of an epoch with the time of one
// (README.md says what a step is).
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>

#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/gpusgd/partition.hpp"
#include "datasets/split.hpp"
#include "datasets/synthetic.hpp"

namespace mf::gpusgd {
namespace {

constexpr int kRepeats = 3;  // timed runs; the mean is reported

const Ratings& train_of(const std::string& like) {
  static std::map<std::string, Split> splits;
  if (splits.count(like) == 0) {
    splits.clear();  // one set at a time
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
    InitSpec init;
    init.kind = InitKind::uniform;
    context.team = &team;
    context.stream = stream.get();
    algorithm = make_algorithm(name, params);
    algorithm->prepare(train,
                       initial_model(train.n_users(), train.n_items(), factors, ModelKind::plain,
                                     mean_rating(train), init, hardware_threads()),
                       context);
  }
};

Prepared& prepared(const std::string& like, const std::string& name, const Json& changes) {
  static std::string kept;
  static std::unique_ptr<Prepared> one;
  const std::string key = like + name + changes.dump();
  if (key != kept) {
    one.reset();
    kept.clear();
    one = std::make_unique<Prepared>(like, name, changes);
    kept = key;
  }
  return *one;
}

void epochs(benchmark::State& state, const std::string& like, const std::string& name,
            const Json& changes) {
  Prepared& now = prepared(like, name, changes);
  const cuda::Event start;
  const cuda::Event stop;
  const auto run = [&] {
    start.record(now.stream.get());
    now.algorithm->run_epoch({now.epoch++, 0.005}, now.context);
    stop.record(now.stream.get());
    stop.synchronize();
    return stop.seconds_since(start);
  };
  run();
  for (auto _ : state) state.SetIterationTime(run());
  const auto serial = now.algorithm->facts().at("serial_steps").get<double>();
  state.counters["updates"] = benchmark::Counter(now.algorithm->work_per_epoch().updates,
                                                 benchmark::Counter::kIsIterationInvariantRate);
  state.counters["serial_steps"] = serial;
  state.counters["s_per_step"] = benchmark::Counter(
      serial, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// The partition on the host, as prepare makes it: of the prepare clock.
void partition(benchmark::State& state, const std::string& like, bool square) {
  const Ratings& train = train_of(like);
  const auto blocks = static_cast<std::int32_t>(state.range(0));
  ThreadTeam team(hardware_threads());
  for (auto _ : state) {
    const Cut cut = square ? square_cut(train.n_users(), train.n_items(), blocks)
                           : rectangular_cut(train.n_users(), train.n_items(), blocks);
    Partition one = make_partition(train, cut, team);
    if (square) benchmark::DoNotOptimize(group_blocks(one, team).begins.data());
    benchmark::DoNotOptimize(one.ratings.data());
  }
  state.counters["ratings"] = benchmark::Counter(static_cast<double>(train.nnz()),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void add(const std::string& like, const std::string& name, const Json& changes) {
  std::string label = like + "/" + name;
  for (const auto& [key, value] : changes.items()) {
    label += "/" + key + ":" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  benchmark::RegisterBenchmark(label.c_str(),
                               [=](benchmark::State& state) { epochs(state, like, name, changes); })
      ->UseManualTime()
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
  for (const bool square : {false, true}) {
    benchmark::RegisterBenchmark(square ? "netflix/partition/square" : "netflix/partition",
                                 partition, "netflix", square)
        ->Arg(64)
        ->Arg(1024)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(kRepeats);
  }
  return true;
}();

}  // namespace
}  // namespace mf::gpusgd
