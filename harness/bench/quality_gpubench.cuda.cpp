// Quality of implicit models on the device, by the clock of the host: all that an evaluation of a
// run takes once its data is there. `quality/<f>` ranks all pairs and sums the objective,
// `ranking/<f>` only ranks, of ml-20m's shape; `gowalla_quality/<f>` and `gowalla_ranking/<f>` of
// gowalla's; `gowalla_weights` ranks by weights between items. items_per_second: scored pairs;
// FLOPs of the product as a rate beside it. `exact`: users whose scores were computed in fp32.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "harness/evaluate/quality.hpp"

namespace mf {
namespace {

using cuda::DeviceBuffer;

struct Shape {
  std::int32_t users, items;
  std::int64_t pairs;
};
constexpr Shape kShapes[] = {{138'493, 26'744, 20'000'263}, {29'858, 40'981, 1'027'370}};

// Items of a user: distinct, ascending, the popular ones more often.
std::vector<std::int32_t> draw_items(std::int64_t count, std::int32_t n_items, Rng& rng) {
  std::vector<std::int32_t> items;
  for (std::int64_t k = 0; k < count; ++k) {
    const double x = rng.uniform();
    items.push_back(static_cast<std::int32_t>(x * x * x * n_items));
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

// A fifth is held out.
Split synthetic_split(const Shape& shape) {
  Ratings::Arrays a;
  a.user_offsets.push_back(0);
  Rng rng(1);
  const double pairs = static_cast<double>(shape.pairs) / shape.users;
  for (std::int32_t u = 0; u < shape.users; ++u) {
    // From a third of the mean to many times of it.
    const auto count =
        static_cast<std::int64_t>(pairs / 3 / (0.003 + std::pow(rng.uniform(), 0.6)));
    for (const auto i : draw_items(count, shape.items, rng)) {
      a.users.push_back(u);
      a.items.push_back(i);
      a.values.push_back(1);
    }
    a.user_offsets.push_back(std::ssize(a.users));
  }
  a.user_ids.resize(shape.users);
  a.item_ids.resize(shape.items);
  std::iota(a.user_ids.begin(), a.user_ids.end(), 0);
  std::iota(a.item_ids.begin(), a.item_ids.end(), 0);
  const Ratings all(std::move(a));
  std::vector<std::uint8_t> label(all.nnz());
  for (auto& one : label) one = rng.below(5) == 0 ? 1 : 0;
  Split split;
  split.train = select(all, label, 0, hardware_threads());
  split.test = select(all, label, 1, hardware_threads());
  return split;
}

const Split& problem(std::int64_t set) {
  static std::unique_ptr<Split> splits[std::size(kShapes)];
  if (!splits[set]) splits[set] = std::make_unique<Split>(synthetic_split(kShapes[set]));
  return *splits[set];
}

ThreadTeam& all_threads() {
  static ThreadTeam team(hardware_threads());
  return team;
}

FoldInLoss loss() {
  FoldInLoss out;
  out.implicit = ImplicitLoss{1, 0.01, 0};
  return out;
}

struct Factors {
  Factors(const Shape& shape, std::int32_t f)
      : host(initial_model(shape.users, shape.items, f, ModelKind::plain, 0,
                           InitSpec{InitKind::normal, 0.1, 1}, hardware_threads())),
        p(cuda::upload(View<const float>(host.p), nullptr)),
        q(cuda::upload(View<const float>(host.q), nullptr)) {
    device = host.view();
    device.location = Location::device;
    device.p = p.data();
    device.q = q.data();
  }
  Model host;
  DeviceBuffer<float> p, q;
  FactorView device;
};

RankedUsers ranked_users(std::int64_t set) {
  return choose_ranked_users(problem(set).train, nullptr, problem(set).test, {}, true,
                             all_threads());
}

// Once outside the clock: uploads, and the first calls of libraries.
template <class Run>
void time(benchmark::State& state, std::int64_t set, double flops, Run&& run) {
  run();
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    run();
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const std::int64_t scores = ranked_users(set).count() * kShapes[set].items;
  state.SetItemsProcessed(state.iterations() * scores);
  state.counters["flops"] = benchmark::Counter(
      flops * static_cast<double>(scores * state.iterations()), benchmark::Counter::kIsRate);
}

void time_quality(benchmark::State& state, std::int64_t set) {
  const auto f = static_cast<std::int32_t>(state.range(0));
  const Factors factors(kShapes[set], f);
  QualityEvaluator evaluator(problem(set), Predictor(problem(set).train), loss(), RankingSpec{},
                             all_threads());
  ThreadTeam team(hardware_threads());
  time(state, set, 2.0 * f,
       [&] { benchmark::DoNotOptimize(evaluator.evaluate(factors.device, team)); });
}

void time_ranking(benchmark::State& state, std::int64_t set) {
  const auto f = static_cast<std::int32_t>(state.range(0));
  const Factors factors(kShapes[set], f);
  const RankedUsers users = ranked_users(set);
  DeviceRanking ranker(users, users.users, {}, nullptr);
  time(state, set, 2.0 * f, [&] {
    benchmark::DoNotOptimize(ranker.rank({factors.device, {}, {}}, nullptr));
  });
  state.counters["exact"] = static_cast<double>(ranker.ranked_exactly());
}

void quality(benchmark::State& state) { time_quality(state, 0); }
void ranking(benchmark::State& state) { time_ranking(state, 0); }
void gowalla_quality(benchmark::State& state) { time_quality(state, 1); }
void gowalla_ranking(benchmark::State& state) { time_ranking(state, 1); }

void gowalla_weights(benchmark::State& state) {
  const std::int32_t n = kShapes[1].items;
  const RankedUsers users = ranked_users(1);
  DeviceRanking ranker(users, users.users, {}, nullptr);
  std::vector<float> numbers(2 * std::int64_t{n});
  Rng rng(1);
  for (float& x : numbers) x = static_cast<float>(rng.normal());
  const auto source = cuda::upload(View<const float>(numbers), nullptr);
  DeviceBuffer<float> w(std::int64_t{n} * n);
  for (std::int64_t j = 0; j < n; ++j) {
    MF_CUDA(cudaMemcpyAsync(w.data() + j * n, source.data() + j * 7919 % n, sizeof(float) * n,
                            cudaMemcpyDeviceToDevice, nullptr));
  }
  time(state, 1, 0,
       [&] { benchmark::DoNotOptimize(ranker.rank(w.data(), n, users.seen, nullptr)); });
}

void in_ms(benchmark::internal::Benchmark* one) {
  one->UseManualTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(quality)->Apply(in_ms)->Arg(64)->Arg(128)->Arg(256);
BENCHMARK(ranking)->Apply(in_ms)->Arg(64)->Arg(128)->Arg(256);
BENCHMARK(gowalla_quality)->Apply(in_ms)->Arg(64)->Arg(256)->Arg(1024);
BENCHMARK(gowalla_ranking)->Apply(in_ms)->Arg(64)->Arg(256)->Arg(1024);
BENCHMARK(gowalla_weights)->Apply(in_ms);

}  // namespace
}  // namespace mf
