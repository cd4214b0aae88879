// rank_items on the host: 2,985 users of 29,858 items, 27 of them seen.
//
//   ranking/<model>/<factors>/<threads>   us a user and thread, and operations a second and thread
//   if
//                                         all scores were computed
//     random    rows of much the same length, as before training: all scores are
//     trained   lengths fall as 1 / rank^.6: most items are too short for most lists
//     popular   one score an item for all users, many of them equal
//     equal     all scores are 0
//
// MFBENCH_BENCH_FACTORS ("64,256") and MFBENCH_BENCH_THREADS ("1,2,16") change the rest.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "base/rng.hpp"
#include "harness/evaluate/ranking.hpp"
#include "testing/bench_env.hpp"

namespace mf {
namespace {

constexpr std::int64_t kUsers = 2985, kItems = 29'858, kSeen = 27;

AlignedVector<float> rows_of(std::int64_t n, std::int64_t width, double fall) {
  AlignedVector<float> rows(n * width);
  Rng rng(7);
  for (std::int64_t i = 0; i < std::ssize(rows); ++i) {
    const double length = std::pow(1 + static_cast<double>(i / width), -fall);
    rows[i] = static_cast<float>((rng.uniform() - 0.5) * length);
  }
  return rows;
}

RankedUsers some_users() {
  RankedUsers users;
  for (std::int32_t u = 0; u < kUsers; ++u) {
    users.users.push_back(u);
    users.cold.push_back(0);
    for (std::int32_t k = 0; k < kSeen; ++k) users.seen.items.push_back(u + 997 * k);
    users.seen.offsets.push_back(std::ssize(users.seen.items));
    users.held_out.items.push_back(u + 1);
    users.held_out.offsets.push_back(std::ssize(users.held_out.items));
  }
  return users;
}

void run_ranking(benchmark::State& state, const std::string& model, int factors, int threads) {
  AlignedVector<float> p = rows_of(kUsers, factors, 0);
  AlignedVector<float> q = rows_of(kItems, factors, model == "trained" ? 0.6 : 0);
  if (factors == 1) p.assign(kUsers, 1.0F);
  for (std::int64_t i = 0; factors == 1 && i < kItems; ++i) {
    q[i] = model == "equal" ? 0.0F : std::floor(1e4F / static_cast<float>(i + 1));
  }
  std::vector<const float*> rows;
  for (std::int64_t u = 0; u < kUsers; ++u) rows.push_back(p.data() + u * factors);
  const RankedUsers users = some_users();
  ThreadTeam team(threads);
  for (auto _ : state) {
    benchmark::DoNotOptimize(rank_items(
        {rows, q.data(), factors, static_cast<std::int32_t>(kItems), factors}, users, team));
  }
  const auto rounds = static_cast<double>(state.iterations()) / threads;
  using benchmark::Counter;
  state.counters["s/user"] = Counter(kUsers * rounds, Counter::kIsRate | Counter::kInvert);
  state.counters["GFLOP/s"] = Counter(2e-9 * factors * kUsers * kItems * rounds, Counter::kIsRate);
}

bool register_all() {
  const auto threads = int_list(env("MFBENCH_BENCH_THREADS", std::to_string(hardware_threads())));
  const auto add = [&](const std::string& model, int factors) {
    for (const int t : threads) {
      const std::string of = "/" + std::to_string(factors) + "/" + std::to_string(t);
      benchmark::RegisterBenchmark(("ranking/" + model + of).c_str(), run_ranking, model, factors,
                                   t)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  };
  for (const int f : int_list(env("MFBENCH_BENCH_FACTORS", "64"))) {
    add("random", f);
    add("trained", f);
  }
  add("popular", 1);
  add("equal", 1);
  return true;
}

const bool kRegistered = register_all();

}  // namespace
}  // namespace mf
