// The evaluator on the device; times by CUDA events, only the kernels.
//   fused/<shape>/<f>     ours: errors and sums in one kernel
//   paper/<shape>/<f>     cu2rec's: a thread per user writes errors, then the reduction
//   evaluate/<shape>/<f>  ours as a run calls it: launch, copy of the partial sums, host additions
//   reduction/<block>     only the reduction, 99 M errors; floor: 4 bytes each from device memory
// items_per_second is ratings a second. bytes_per_second counts the needs of a rating: its triple
// (12 bytes) and a row of q, and every row of p once; most of it comes from the L2 cache, so it may
// be above the bandwidth of the device memory.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "harness/evaluate/device/device_evaluator.hpp"
#include "harness/evaluate/device/reduction.cuh"

namespace mf {
namespace {

using cuda::DeviceBuffer;

struct Shape {
  const char* name;
  std::int32_t users;
  std::int32_t items;
  std::int64_t nnz;
};
constexpr Shape kNetflix{"netflix", 480'189, 17'770, 99'072'112};
constexpr Shape kMl20m{"ml-20m", 138'493, 26'744, 20'000'263};

// Users' numbers of ratings fall as the square root of their rank, in random order.
void draw_degrees(Ratings::Arrays& a, const Shape& shape) {
  const std::int64_t m = shape.users;
  std::vector<double> weight(m);
  Rng rng(1);
  for (auto& w : weight) w = 1 / std::sqrt(rng.uniform() + 1e-4);
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  a.user_offsets.resize(m + 1);
  a.user_offsets[0] = 0;
  double sum = 0;
  for (std::int64_t u = 0; u < m; ++u) {
    sum += weight[u];
    a.user_offsets[u + 1] = std::llround(static_cast<double>(shape.nnz) * sum / total);
  }
  a.user_offsets[m] = shape.nnz;
}

// 1 % of the items have a fifth of the ratings. A pair may occur twice; nothing here minds.
void draw_ratings(Ratings::Arrays& a, const Shape& shape, ThreadTeam& team) {
  std::vector<std::int32_t> item_of_rank(shape.items);
  std::iota(item_of_rank.begin(), item_of_rank.end(), 0);
  Rng shuffle(2);
  for (std::size_t i = item_of_rank.size() - 1; i > 0; --i) {
    std::swap(item_of_rank[i], item_of_rank[shuffle.below(i + 1)]);
  }
  team.for_chunks(shape.users, 256, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t u = first; u < last; ++u) {
      Rng rng(3, static_cast<std::uint64_t>(u));
      const std::int64_t begin = a.user_offsets[u];
      const std::int64_t end = a.user_offsets[u + 1];
      for (std::int64_t k = begin; k < end; ++k) {
        const double x = rng.uniform();
        a.users[k] = static_cast<std::int32_t>(u);
        a.items[k] = item_of_rank[static_cast<std::int64_t>(x * x * x * shape.items)];
        a.values[k] = static_cast<float>(1 + rng.below(5));
      }
      std::sort(a.items.begin() + begin, a.items.begin() + end);
    }
  });
}

Ratings synthetic_ratings(const Shape& shape) {
  Ratings::Arrays a;
  draw_degrees(a, shape);
  a.users.resize(shape.nnz);
  a.items.resize(shape.nnz);
  a.values.resize(shape.nnz);
  a.user_ids.resize(shape.users);
  a.item_ids.resize(shape.items);
  std::iota(a.user_ids.begin(), a.user_ids.end(), 0);
  std::iota(a.item_ids.begin(), a.item_ids.end(), 0);
  ThreadTeam team(hardware_threads());
  draw_ratings(a, shape, team);
  return Ratings(std::move(a));
}

// One shape at a time: its ratings here and on the device.
struct Problem {
  explicit Problem(const Shape& of)
      : shape(of),
        ratings(synthetic_ratings(of)),
        evaluator(std::vector<std::uint8_t>(of.users, 1), std::vector<std::uint8_t>(of.items, 1),
                  nullptr) {}
  Shape shape;
  Ratings ratings;
  DeviceEvaluator evaluator;
};

Problem& problem(const Shape& shape) {
  static std::unique_ptr<Problem> current;
  if (!current || current->shape.nnz != shape.nnz) {
    current.reset();
    current = std::make_unique<Problem>(shape);
  }
  return *current;
}

__global__ void fill_small(float* to, std::int64_t count) {
  std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i < count; i += std::int64_t{gridDim.x} * blockDim.x) {
    to[i] = static_cast<float>((i * 2654435761LL >> 7) % 1001 - 500) * 1e-4F;
  }
}

DeviceBuffer<float> small_numbers(std::int64_t count) {
  DeviceBuffer<float> numbers(count);
  fill_small<<<1024, 256>>>(numbers.data(), count);
  MF_CUDA_LAUNCHED("fill_small");
  return numbers;
}

struct DeviceFactors {
  DeviceFactors(const Shape& shape, std::int32_t factors)
      : p(small_numbers(std::int64_t{shape.users} * factors)),
        q(small_numbers(std::int64_t{shape.items} * factors)) {
    view.location = Location::device;
    view.n_users = shape.users;
    view.n_items = shape.items;
    view.factors = factors;
    view.p = p.data();
    view.q = q.data();
    view.p_stride = view.q_stride = factors;
  }
  DeviceBuffer<float> p, q;
  FactorView view;
};

void count_work(benchmark::State& state, const Shape& shape, std::int32_t factors) {
  const std::int64_t row = 4 * std::int64_t{factors};
  state.SetItemsProcessed(state.iterations() * shape.nnz);
  state.SetBytesProcessed(state.iterations() * (shape.nnz * (12 + row) + shape.users * row));
}

// Time of the work that `launch` queues, by events on the default stream.
template <class Launch>
void time_launches(benchmark::State& state, Launch&& launch) {
  const cuda::Event start;
  const cuda::Event stop;
  launch();  // uploads, and warms up
  MF_CUDA(cudaDeviceSynchronize());
  for (auto _ : state) {
    start.record(nullptr);
    launch();
    stop.record(nullptr);
    stop.synchronize();
    state.SetIterationTime(stop.seconds_since(start));
  }
}

void loss(benchmark::State& state, const Shape& shape, LossMethod method) {
  const auto factors = static_cast<std::int32_t>(state.range(0));
  Problem& p = problem(shape);
  const DeviceFactors model(shape, factors);
  time_launches(state, [&] { p.evaluator.launch(model.view, {}, p.ratings, nullptr, method); });
  count_work(state, shape, factors);
}

void evaluate(benchmark::State& state, const Shape& shape) {
  const auto factors = static_cast<std::int32_t>(state.range(0));
  Problem& p = problem(shape);
  const DeviceFactors model(shape, factors);
  const auto run = [&] { return p.evaluator.evaluate(model.view, {}, p.ratings, nullptr).rmse; };
  run();
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(run());
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  count_work(state, shape, factors);
}

template <int kBlock>
void reduction(benchmark::State& state) {
  const std::int64_t count = kNetflix.nnz;
  const DeviceBuffer<float> errors = small_numbers(count);
  DeviceBuffer<LossSums> partial(kReductionBlocks<kBlock>);
  time_launches(state, [&] {
    sum_errors<kBlock><<<kReductionBlocks<kBlock>, kBlock>>>(errors.data(), count, partial.data());
    MF_CUDA_LAUNCHED("sum_errors");
  });
  state.SetItemsProcessed(state.iterations() * count);
  state.SetBytesProcessed(state.iterations() * count * 4);
}

void add(const std::string& name, const Shape& shape, std::vector<std::int64_t> factors,
         void (*run)(benchmark::State&, const Shape&, LossMethod), LossMethod method) {
  auto* bench = benchmark::RegisterBenchmark(
      (name + "/" + shape.name).c_str(),
      [run, shape, method](benchmark::State& state) { run(state, shape, method); });
  for (const auto f : factors) bench->Arg(f);
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
}

template <int kBlock>
void add_reduction() {
  benchmark::RegisterBenchmark(("reduction/" + std::to_string(kBlock)).c_str(), reduction<kBlock>)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

const bool registered = [] {
  const auto whole = [](benchmark::State& state, const Shape& shape, LossMethod) {
    evaluate(state, shape);
  };
  for (const Shape& shape : {kNetflix, kMl20m}) {
    add("fused", shape, {32, 50, 64, 100, 128, 256}, loss, LossMethod::fused);
    add("paper", shape, {32, 50, 64, 100, 128, 256}, loss, LossMethod::thread_per_user);
    add("evaluate", shape, {128}, whole, LossMethod::fused);
  }
  add_reduction<64>();
  add_reduction<128>();
  add_reduction<256>();
  add_reduction<512>();
  add_reduction<1024>();
  return true;
}();

}  // namespace
}  // namespace mf
