// ials_fused on look-alikes, in milliseconds of an iteration and of its parts. Counters: the floor
// of an iteration in milliseconds (fused/NOTES.md) and the share of it that was reached.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "algorithms/ials/fused/steps.hpp"
#include "algorithms/ials/fused/tiles.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::ials {
namespace {

struct Data {
  std::string like;
  bool equal = true;  // all values 1, as `value: binary` makes them
  double test_fraction = 0;
};
constexpr double kNetflixTest = 0.01402;  // 99.07 M pairs are left
constexpr double kMovieLensTest = 0.001;  // 19.98 M

Ratings pairs_of(const Data& data) {
  SplitSpec spec;
  spec.test_fraction = data.test_fraction;
  const Split split =
      make_split(make_look_alike(data.like, 1.0, 1, hardware_threads()), spec, hardware_threads());
  const Ratings& train = split.train;
  Ratings::Arrays arrays;
  const auto copy = [](auto view, auto& to) { to.assign(view.begin(), view.end()); };
  copy(train.user_offsets(), arrays.user_offsets);
  copy(train.users(), arrays.users);
  copy(train.items(), arrays.items);
  copy(train.values(), arrays.values);
  copy(train.user_ids(), arrays.user_ids);
  copy(train.item_ids(), arrays.item_ids);
  if (data.equal) std::fill(arrays.values.begin(), arrays.values.end(), 1.0F);
  return Ratings(std::move(arrays));
}

// The last one is kept: one large set at a time.
const Ratings& pairs(const Data& data) {
  static std::string kept;
  static std::unique_ptr<Ratings> one;
  const std::string key = data.like + (data.equal ? " equal" : "");
  if (kept != key) {
    one.reset();
    one = std::make_unique<Ratings>(pairs_of(data));
    kept = key;
  }
  return *one;
}

struct Runner {
  ThreadTeam team{hardware_threads()};
  cuda::Stream stream;
  FusedSteps steps;
  double floor = 0;  // seconds of an iteration
};

// For an iteration with A formed for every row, as fused/NOTES.md derives it; of more factors with
// A applied, whose rows are gathered for each product.
double floor_seconds(const Ratings& train, const FusedSettings& settings, bool equal) {
  const auto nnz = static_cast<double>(train.nnz());
  const double users = train.n_users();
  const double items = train.n_items();
  const double rows = users + items;
  const int f = settings.common.factors;
  const double tiles = kernel_tiles(equal, f);
  const double words = settings.precision == als::FusedPrecision::fp16 ? 1 : 2;
  const bool free = equal && f <= tiles * als::kFusedTile - 8;
  const double row_bytes = 2 * words * f;
  const auto gather = [&](double from) {
    const double times = f <= als::kMostFormedFactors ? 1 : settings.common.cg.steps + 1;
    return times * nnz * row_bytes / (from * row_bytes < 40e6 ? 8.7e12 : 5.6e12);
  };
  const double blocks = tiles * (tiles + 1) * (words == 1 ? 1 : 3) + (free ? 0 : tiles * words);
  const double solver = words == 1 ? (settings.common.cg.steps + 1) * tiles * tiles * 4096 : 0;
  const double products = (2 * nnz * blocks * 256 + rows * solver) / 600e12;
  const double square = static_cast<double>(f) * f;
  const double whitening = 6 * square * rows / 60e12;
  const double streamed = (16 * nnz + 44.0 * f * rows) / 4.2e12;
  return std::max(gather(users) + gather(items), products) + whitening + streamed;
}

// The last one is kept: the library calls a benchmark several times.
Runner& runner(const Data& data, const Json& changes) {
  static std::string kept;
  static std::unique_ptr<Runner> one;
  const std::string key = data.like + (data.equal ? " equal " : " ") + changes.dump();
  if (kept == key) return *one;
  one.reset();
  kept = key;
  one = std::make_unique<Runner>();
  const Ratings& train = pairs(data);
  const Params params = default_params(find_algorithm("ials_fused").params, changes);
  const FusedSettings settings = read_fused_settings(params);
  Context context;
  context.team = &one->team;
  context.stream = one->stream.get();
  const Model initial =
      initial_model(train.n_users(), train.n_items(), settings.common.factors, ModelKind::plain, 0,
                    {InitKind::normal, 0.1, 3}, hardware_threads());
  cuda::DeviceRatings ratings(train, one->team, one->stream.get());
  DevicePairs pairs(train, settings.common.loss, ratings, one->stream.get());
  one->steps = FusedSteps(settings, pairs, initial, context);
  one->floor = floor_seconds(train, settings, data.equal);
  return *one;
}

void iterate(benchmark::State& state, const Data& data, const Json& changes) {
  Runner& with = runner(data, changes);
  FusedSteps& steps = with.steps;
  double parts[4] = {};  // whitening of Y, X, whitening of X, Y
  double total = 0;
  const cuda::Event marks[5];
  const auto iteration = [&] {
    const auto mark = [&](int k) { marks[k].record(with.stream.get()); };
    mark(0);
    steps.whiten_y();
    mark(1);
    steps.update_x();
    mark(2);
    steps.whiten_x();
    mark(3);
    steps.update_y();
    mark(4);
    marks[4].synchronize();
    for (int k = 0; k < 4; ++k) parts[k] += marks[k + 1].seconds_since(marks[k]);
    return marks[4].seconds_since(marks[0]);
  };
  iteration();  // from here on, factors are as in a run
  for (double& part : parts) part = 0;
  for (auto _ : state) {
    const double seconds = iteration();
    state.SetIterationTime(seconds);
    total += seconds;
  }
  steps.check();
  const auto count = static_cast<double>(state.iterations());
  state.counters["whiten_ms"] = 1e3 * (parts[0] + parts[2]) / count;
  state.counters["x_ms"] = 1e3 * parts[1] / count;
  state.counters["y_ms"] = 1e3 * parts[3] / count;
  state.counters["floor_ms"] = 1e3 * with.floor;
  state.counters["of_floor"] = with.floor * count / total;
}

void add(const Data& data, const Json& changes) {
  std::string label = "ials_fused/" + data.like + (data.equal ? "/equal" : "/weighted");
  for (const auto& [key, value] : changes.items()) {
    label += "/" + key + ":" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  benchmark::RegisterBenchmark(label.c_str(),
                               [=](benchmark::State& state) { iterate(state, data, changes); })
      ->UseManualTime()
      ->Iterations(5)
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const auto& [like, test] :
       {std::pair("netflix", kNetflixTest), std::pair("ml-20m", kMovieLensTest)}) {
    for (const bool equal : {true, false}) {
      const Data data{like, equal, test};
      for (const int factors : {64, 128, 256}) {
        for (const char* normal : {"formed", "applied", "auto"}) {
          add(data, {{"factors", factors}, {"normal", normal}});
        }
      }
      for (const int factors : {320, 512}) add(data, {{"factors", factors}});
      add(data, {{"factors", 128}, {"precision", "fp16x2"}});
      for (const int steps : {1, 2}) add(data, {{"factors", 128}, {"cg_steps", steps}});
    }
  }
  return true;
}();

}  // namespace
}  // namespace mf::ials
