// Times epochs of device algorithms without the harness, by CUDA events: for gpubenches.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/prepare.hpp"
#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "datasets/split/split.hpp"
#include "datasets/synthetic/synthetic.hpp"

namespace mf::cuda {

struct BenchCase {
  std::string like;               // the data set whose look-alike is used, at full scale
  std::string algorithm;          // its name
  Json changes = Json::object();  // of its default parameters
  std::int64_t epochs = 1;        // of one timed run; the reported time is one epoch's
};

// The look-alike, split. The last one is kept: one large set at a time.
inline std::shared_ptr<const Split> look_alike_split(const std::string& like) {
  static std::string kept;
  static std::shared_ptr<const Split> split;
  if (like != kept) {
    split.reset();
    kept.clear();
    const Dataset data = make_look_alike(like, 1.0, 1, hardware_threads());
    split = std::make_shared<const Split>(make_split(data, {}, hardware_threads()));
    kept = like;
  }
  return split;
}

// Seconds of the work that `queue` puts on the stream.
template <class Queue>
double device_seconds(const Stream& stream, Queue&& queue) {
  const Event start;
  const Event stop;
  start.record(stream.get());
  std::forward<Queue>(queue)();
  stop.record(stream.get());
  stop.synchronize();
  return stop.seconds_since(start);
}

// An algorithm that is ready to run.
struct BenchRunner {
  std::shared_ptr<const Split> split;
  Stream stream;
  ThreadTeam team{hardware_threads()};
  Context context;
  std::unique_ptr<Algorithm> algorithm;
  std::int64_t epoch = 1;  // the next one

  explicit BenchRunner(const BenchCase& what) : split(look_alike_split(what.like)) {
    const Params params = default_params(find_algorithm(what.algorithm).params, what.changes);
    context.team = &team;
    context.stream = stream.get();
    algorithm = prepare_algorithm(what.algorithm, params, split->train, initial(params), context);
  }

  // Seconds of each of the next `count` epochs.
  double run(std::int64_t count) {
    const double seconds = device_seconds(stream, [&] {
      algorithm->run_epochs({epoch, 0.005}, count, context);
    });
    epoch += count;
    return seconds / static_cast<double>(count);
  }

 private:
  // Near the mean rating, as the experiments begin: only by P and Q, or by the mean of the model.
  Model initial(const Params& params) const {
    InitSpec init;
    if (model_kind(params) == ModelKind::plain) init.kind = InitKind::uniform;
    return initial_model_of(params, split->train, init, hardware_threads());
  }
};

// The last one is kept: the library may call a benchmark several times until its time suffices,
// and the ratings then go to the device once.
inline BenchRunner& bench_runner(const BenchCase& what) {
  static std::string kept;
  static std::unique_ptr<BenchRunner> one;
  const std::string key = what.like + " " + what.algorithm + " " + what.changes.dump();
  if (key != kept) {
    one.reset();
    kept.clear();
    one = std::make_unique<BenchRunner>(what);
    kept = key;
  }
  return *one;
}

inline benchmark::Counter rate_counter(double a_run) {
  return {a_run, benchmark::Counter::kIsIterationInvariantRate};
}

// Counters: rating updates a second, and the compulsory bytes a second (the family's README derives
// them). Returns the algorithm, for more of them.
inline const Algorithm& time_epochs(benchmark::State& state, const BenchCase& what) {
  BenchRunner& runner = bench_runner(what);
  runner.run(what.epochs);
  for (auto _ : state) state.SetIterationTime(runner.run(what.epochs));
  const Work work = runner.algorithm->work_per_epoch();
  state.counters["updates"] = rate_counter(work.updates);
  state.counters["bytes"] = rate_counter(work.bytes);
  return *runner.algorithm;
}

// Registers "<prefix>/<key>:<value>/..." over the changed parameters, in their order; unit and
// iterations are the caller's to set. `finish` may add counters. A benchmark that the device cannot
// run becomes an error of only that benchmark.
inline benchmark::internal::Benchmark* add_epochs(
    const std::string& prefix, const BenchCase& what,
    const std::function<void(benchmark::State&, const Algorithm&)>& finish = {}) {
  std::string label = prefix;
  for (const auto& [key, value] : what.changes.items()) {
    label += "/" + key + ":" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return benchmark::RegisterBenchmark(label.c_str(),
                                      [=](benchmark::State& state) {
                                        try {
                                          const Algorithm& ran = time_epochs(state, what);
                                          if (finish) finish(state, ran);
                                        } catch (const Error& error) {
                                          state.SkipWithError(error.what());
                                        }
                                      })
      ->UseManualTime();
}

}  // namespace mf::cuda
