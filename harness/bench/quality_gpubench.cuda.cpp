// Quality of implicit models on the device, by the clock of the host: all that an evaluation of a
// run takes once its data is there: `quality/<f>` ranks all pairs and sums the objective.
// 138,493 users x 26,744 items, 16 M training pairs, 4 M held out. items_per_second: scored pairs;
// FLOPs of the product as a rate beside it.
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

constexpr std::int32_t kUsers = 138'493;
constexpr std::int32_t kItems = 26'744;
constexpr std::int64_t kPairs = 20'000'263;

// Items of a user: distinct, ascending, the popular ones more often.
std::vector<std::int32_t> draw_items(std::int64_t count, Rng& rng) {
  std::vector<std::int32_t> items;
  for (std::int64_t k = 0; k < count; ++k) {
    const double x = rng.uniform();
    items.push_back(static_cast<std::int32_t>(x * x * x * kItems));
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

Split synthetic_split() {
  Ratings::Arrays a;
  a.user_offsets.push_back(0);
  Rng rng(1);
  for (std::int32_t u = 0; u < kUsers; ++u) {
    // From 48 to several thousand, 144 on average.
    const auto count = static_cast<std::int64_t>(static_cast<double>(kPairs) / kUsers / 3 /
                                                 (0.003 + std::pow(rng.uniform(), 0.6)));
    for (const auto i : draw_items(count, rng)) {
      a.users.push_back(u);
      a.items.push_back(i);
      a.values.push_back(1);
    }
    a.user_offsets.push_back(std::ssize(a.users));
  }
  a.user_ids.resize(kUsers);
  a.item_ids.resize(kItems);
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

const Split& problem() {
  static const Split split = synthetic_split();
  return split;
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
  explicit Factors(std::int32_t f)
      : host(initial_model(kUsers, kItems, f, ModelKind::plain, 0,
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

void count_scores(benchmark::State& state, std::int64_t users, std::int64_t f) {
  const auto scores = static_cast<double>(users) * kItems;
  state.SetItemsProcessed(state.iterations() * users * kItems);
  state.counters["flops"] = benchmark::Counter(
      2 * scores * static_cast<double>(f) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}

RankedUsers ranked_users() {
  return choose_ranked_users(problem().train, nullptr, problem().test, {}, true, all_threads());
}

void quality(benchmark::State& state) {
  const auto f = static_cast<std::int32_t>(state.range(0));
  const Factors factors(f);
  QualityEvaluator evaluator(problem(), Predictor(problem().train), loss(), RankingSpec{},
                             all_threads());
  ThreadTeam team(hardware_threads());
  const auto run = [&] { benchmark::DoNotOptimize(evaluator.evaluate(factors.device, team)); };
  run();  // uploads, and warms up
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    run();
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  count_scores(state, ranked_users().count(), f);
}

BENCHMARK(quality)->UseManualTime()->Unit(benchmark::kMillisecond)->Arg(64)->Arg(128)->Arg(256);

}  // namespace
}  // namespace mf
