// Half-steps of als_fused on the Netflix look-alike, with as many training ratings as the original
// has. Counters: FLOPs of forming the lower half of A a second, gathered bytes a second.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "algorithms/als/fused/steps.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::als {
namespace {

struct Runner {
  ThreadTeam team{hardware_threads()};
  cuda::Stream stream;
  FusedSteps steps;
  double nnz = 0;
};

const Split& netflix() {
  static const Split split = [] {
    SplitSpec spec;
    spec.test_fraction = 0.01402;  // 99.07 M ratings are left
    return make_split(make_look_alike("netflix", 1.0, 1, hardware_threads()), spec,
                      hardware_threads());
  }();
  return split;
}

// The last one is kept: the library calls a benchmark several times.
Runner& runner(const Json& changes) {
  static std::string kept;
  static std::unique_ptr<Runner> one;
  if (kept == changes.dump()) return *one;
  one.reset();
  kept = changes.dump();
  one = std::make_unique<Runner>();
  const Ratings& train = netflix().train;
  const Params params = default_params(find_algorithm("als_fused").params, changes);
  const FusedSettings settings = read_fused_settings(params);
  Context context;
  context.team = &one->team;
  context.stream = one->stream.get();
  InitSpec init;
  init.kind = InitKind::uniform;
  const Model initial =
      initial_model(train.n_users(), train.n_items(), settings.common.factors, ModelKind::plain,
                    mean_rating(train), init, hardware_threads());
  cuda::DeviceRatings ratings(train, one->team, one->stream.get());
  one->steps = FusedSteps(settings, ratings, {}, initial, context);
  one->nnz = static_cast<double>(train.nnz());
  one->steps.update_x(one->stream.get());  // from here on, factors are as in a run
  one->steps.update_theta(one->stream.get());
  return *one;
}

void half_step(benchmark::State& state, const Json& changes, bool x, int cg_steps) {
  Runner& with = runner(changes);
  with.steps.set_steps(cg_steps);
  const auto stream = with.stream.get();
  for (auto _ : state) {
    state.SetIterationTime(cuda::device_seconds(
        with.stream, [&] { x ? with.steps.update_x(stream) : with.steps.update_theta(stream); }));
  }
  const double f = changes["factors"];
  state.counters["flops"] = cuda::rate_counter(with.nnz * f * (f + 1));
  state.counters["gathered"] =
      cuda::rate_counter(with.nnz * f * 2 * (changes["precision"] == "fp16" ? 1 : 2));
}

// Each half-step without the steps of CG and with six.
void add(Json changes) {
  // All steps of CG: repeated from its own solution it would soon end early.
  changes["cg_tolerance"] = 0;
  for (const bool x : {true, false}) {
    for (const int steps : {0, 6}) {
      std::string label = "als_fused/side:" + std::string(x ? "x" : "theta");
      for (const char* key : {"factors", "precision", "normal", "products"}) {
        if (!changes.contains(key)) continue;
        const Json& value = changes[key];
        label += std::string("/") + key + ":" +
                 (value.is_string() ? value.get<std::string>() : value.dump());
      }
      label += "/cg_steps:" + std::to_string(steps);
      benchmark::RegisterBenchmark(
          label.c_str(), [=](benchmark::State& state) { half_step(state, changes, x, steps); })
          ->UseManualTime()
          ->Iterations(5)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const int factors : {32, 64, 100, 128, 256}) {
    for (const char* precision : {"fp16", "fp16x2"}) {
      add({{"factors", factors}, {"precision", precision}});
    }
  }
  for (const int factors : {100, 128, 256}) {
    for (const char* normal : {"formed", "applied"}) {
      add({{"factors", factors}, {"precision", "fp16"}, {"normal", normal}});
    }
  }
  add({{"factors", 256}, {"precision", "fp16"}, {"products", "warp"}});
  for (const int factors : {320, 512}) add({{"factors", factors}, {"precision", "fp16"}});
  return true;
}();

}  // namespace
}  // namespace mf::als
