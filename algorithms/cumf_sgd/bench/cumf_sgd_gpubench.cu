// A pass of batch_hogwild and wavefront on the Netflix look-alike's train part, timed by CUDA
// events. Counters: updates a second, and the compulsory bytes a second.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>

#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/registry.hpp"
#include "datasets/split.hpp"
#include "datasets/synthetic.hpp"

namespace mf::cumf_sgd {
namespace {

constexpr int kPasses = 5;

const Ratings& netflix() {
  static const Split split =
      make_split(make_look_alike("netflix", 1.0, 1, hardware_threads()), {}, hardware_threads());
  return split.train;
}

void pass(benchmark::State& state, const std::string& name, const Json& changes) {
  const Ratings& train = netflix();
  const Params params = default_params(find_algorithm(name).params, changes);
  const cuda::Stream stream;
  ThreadTeam team(hardware_threads());
  Context context;
  context.team = &team;
  context.stream = stream.get();
  const auto algorithm = make_algorithm(name, params);
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

void add(const std::string& name, const Json& changes) {
  std::string label = name;
  for (const auto& [key, value] : changes.items()) {
    label += "/" + key + ":" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  benchmark::RegisterBenchmark(label.c_str(),
                               [=](benchmark::State& state) { pass(state, name, changes); })
      ->UseManualTime()
      ->Iterations(kPasses)
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const int factors : {32, 64, 100, 128, 256}) {
    for (const char* storage : {"fp16", "fp32"}) {
      for (const char* mapping : {"warp", "group"}) {
        add("batch_hogwild", {{"factors", factors}, {"storage", storage}, {"mapping", mapping}});
      }
      add("wavefront", {{"factors", factors}, {"storage", storage}});
    }
  }
  for (const int workers : {2000, 8000, 16000}) {
    add("batch_hogwild", {{"factors", 128}, {"workers", workers}, {"mapping", "group"}});
  }
  for (const int run : {64, 1024}) add("batch_hogwild", {{"factors", 128}, {"run", run}});
  for (const int workers : {256, 1500, 3000})
    add("wavefront", {{"factors", 128}, {"workers", workers}});
  return true;
}();

}  // namespace
}  // namespace mf::cumf_sgd
