// A pass of sgd_tiled on the Netflix look-alike's train part, timed by CUDA events. Counters:
// updates a second, and the compulsory bytes a second.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>

#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/registry.hpp"
#include "datasets/split.hpp"
#include "datasets/synthetic.hpp"

namespace mf::sgd_tiled {
namespace {

constexpr int kPasses = 5;

const Ratings& netflix() {
  static const Split split =
      make_split(make_look_alike("netflix", 1.0, 1, hardware_threads()), {}, hardware_threads());
  return split.train;
}

void pass(benchmark::State& state, const Json& changes) {
  const Ratings& train = netflix();
  const Params params = default_params(find_algorithm("sgd_tiled").params, changes);
  const cuda::Stream stream;
  ThreadTeam team(hardware_threads());
  Context context;
  context.team = &team;
  context.stream = stream.get();
  const auto algorithm = make_algorithm("sgd_tiled", params);
  const auto factors = static_cast<std::int32_t>(params.integer("factors"));
  InitSpec init;
  init.kind = InitKind::uniform;
  algorithm->prepare(
      train,
      initial_model(train.n_users(), train.n_items(), factors,
                    parse_model_kind(params.choice("model")), 3.6, init, hardware_threads()),
      context);
  const cuda::Event start;
  const cuda::Event stop;
  std::int64_t epoch = 0;
  const auto run = [&] {
    start.record(stream.get());
    algorithm->run_epoch({++epoch, 0.005}, context);
    stop.record(stream.get());
    stop.synchronize();
    return stop.seconds_since(start);
  };
  run();
  for (auto _ : state) state.SetIterationTime(run());
  const Work work = algorithm->work_per_epoch();
  state.counters["updates"] =
      benchmark::Counter(work.updates, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes"] =
      benchmark::Counter(work.bytes, benchmark::Counter::kIsIterationInvariantRate);
}

void add(const Json& changes) {
  std::string label = "sgd_tiled";
  for (const auto& [key, value] : changes.items()) {
    label += "/" + key + ":" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  benchmark::RegisterBenchmark(label.c_str(),
                               [=](benchmark::State& state) { pass(state, changes); })
      ->UseManualTime()
      ->Iterations(kPasses)
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const int factors : {32, 64, 100, 128, 256}) {
    for (const char* storage : {"fp16", "bf16", "fp32"}) {
      add({{"factors", factors}, {"storage", storage}});
    }
  }
  add({{"factors", 128}, {"rounding", "nearest"}});
  add({{"factors", 128}, {"model", "biased"}});
  for (const int above : {0, 160000, 80000, 40000, 10000, 5000}) {
    add({{"factors", 128}, {"thin_above", above}});
  }
  for (const int chunk : {8, 16, 64, 128}) add({{"factors", 128}, {"chunk", chunk}});
  return true;
}();

}  // namespace
}  // namespace mf::sgd_tiled
