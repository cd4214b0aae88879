// Half-steps of ials and ials_pp on the Netflix look-alike, with as many observed pairs as the
// original has training ratings; a pair's confidence is 1 + its rating. Counter: bytes of rows that
// are gathered, a second.
//
//   ials/side:<x|y>/<parameters>      MFBENCH_BENCH_LIKE names another look-alike
//   ials_pp/side:<x|y>/<parameters>
#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>

#include "algorithms/ials/blocks/device_steps.hpp"
#include "algorithms/ials/post/steps.hpp"
#include "testing/bench_env.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::ials {
namespace {

const Split& pairs() {
  static const Split split = [] {
    SplitSpec spec;
    spec.test_fraction = 0.01402;  // of Netflix 99.07 M are left
    return make_split(
        make_look_alike(env("MFBENCH_BENCH_LIKE", "netflix"), 1.0, 1, hardware_threads()), spec,
        hardware_threads());
  }();
  return split;
}

// An algorithm's half-steps, X's or Y's.
struct Runner {
  ThreadTeam team{hardware_threads()};
  cuda::Stream stream;
  Context context;
  std::unique_ptr<HalfSteps> steps;
  double nnz = 0;

  void half_step(bool x) { steps->half_step(x ? Which::users : Which::items, context); }
};

// The last one is kept: the library calls a benchmark several times.
Runner& runner(const std::string& name, const Json& changes) {
  static std::string kept;
  static std::unique_ptr<Runner> one;
  if (kept == name + changes.dump()) return *one;
  one.reset();
  kept = name + changes.dump();
  one = std::make_unique<Runner>();
  const Ratings& train = pairs().train;
  const Params params = default_params(find_algorithm(name).params, changes);
  one->context.team = &one->team;
  one->context.stream = one->stream.get();
  one->nnz = static_cast<double>(train.nnz());
  cuda::DeviceRatings ratings(train, one->team, one->stream.get());
  DevicePairs pairs(train, read_loss(params), ratings, one->stream.get());
  const Model initial = initial_model(
      train.n_users(), train.n_items(), static_cast<std::int32_t>(params.integer("factors")),
      ModelKind::plain, 0, {InitKind::normal, 0.1, 1}, hardware_threads());
  if (name == "ials") {
    one->steps = make_half_steps(read_ials_settings(params), pairs, initial, one->context);
  } else {
    one->steps =
        std::make_unique<BlockSteps>(read_ials_pp_settings(params), pairs, initial, one->context);
  }
  one->half_step(true);  // from here on, factors are as in a run
  one->half_step(false);
  return *one;
}

void half_step(benchmark::State& state, const std::string& name, const Json& changes, bool x,
               double gathers) {
  Runner& with = runner(name, changes);
  for (auto _ : state) {
    state.SetIterationTime(cuda::device_seconds(with.stream, [&] { with.half_step(x); }));
  }
  const double f = changes["factors"];
  state.counters["gathered"] = cuda::rate_counter(with.nnz * 4 * f * gathers);
}

// gathers: how often a half-step reads the row of a pair.
void add(const std::string& name, const Json& changes, double gathers) {
  for (const bool x : {true, false}) {
    std::string label = name + "/side:" + (x ? "x" : "y");
    for (const auto& [key, value] : changes.items()) {
      label += "/" + key + ":" + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    benchmark::RegisterBenchmark(
        label.c_str(),
        [=](benchmark::State& state) { half_step(state, name, changes, x, gathers); })
        ->UseManualTime()
        ->Iterations(3)
        ->Unit(benchmark::kMillisecond);
  }
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const int f : {64, 128, 256}) {
    for (const bool prefetch : {false, true}) {
      add("ials", {{"factors", f}, {"dot", "shuffle"}, {"prefetch", prefetch}}, 4);
    }
    add("ials", {{"factors", f}, {"dot", "warp"}}, 4);
    for (const int blocks : {2112, 4224}) {
      add("ials", {{"factors", f}, {"dot", "warp"}, {"blocks", blocks}}, 4);
      add("ials", {{"factors", f}, {"dot", "shuffle"}, {"blocks", blocks}}, 4);
    }
    for (const char* solver : {"cg", "cholesky"}) {
      add("ials", {{"factors", f}, {"solve", "hermitian"}, {"solver", solver}}, 2);
    }
    for (const int block_size : {32, 64, 128}) {
      if (block_size > f) continue;
      add("ials_pp", {{"factors", f}, {"block_size", block_size}}, 3);
    }
  }
  // The post's two experiments, on its own loop.
  for (const char* dot : {"atomic", "shuffle"}) {
    for (const char* access : {"strided", "coalesced"}) {
      add("ials", {{"factors", 128}, {"dot", dot}, {"gram_access", access}, {"prefetch", false}},
          4);
    }
  }
  for (const int f : {512, 1024, 2048}) {
    if (f <= kMostPostFactors) add("ials", {{"factors", f}, {"dot", "shuffle"}}, 4);
    add("ials", {{"factors", f}, {"dot", "warp"}}, 4);
    add("ials", {{"factors", f}, {"solve", "hermitian"}, {"solver", "cg"}}, 2);
    add("ials_pp", {{"factors", f}, {"block_size", 128}}, 3);
  }
  return true;
}();

}  // namespace
}  // namespace mf::ials
