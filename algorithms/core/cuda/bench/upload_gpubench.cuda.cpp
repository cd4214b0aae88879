// As many ratings as Netflix has, from the host's arrays to the device's rows: 8 bytes each as they
// are there, packed when they were loaded, and packed on the way. Counter: ratings a second.
#include <benchmark/benchmark.h>

#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "base/clock.hpp"
#include "base/rng.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::cuda {
namespace {

constexpr std::int32_t kItems = 17'770;
constexpr std::int64_t kRatings = 98'816'663;

// For one user, which makes no difference here.
Ratings make_ratings() {
  Ratings::Arrays arrays;
  arrays.users.assign(kRatings, 0);
  arrays.items = AlignedVector<std::int32_t>(kRatings);
  arrays.values = AlignedVector<float>(kRatings);
  ThreadTeam team(hardware_threads());
  team.for_chunks(kRatings, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    Rng rng(static_cast<std::uint64_t>(begin));
    for (std::int64_t i = begin; i < end; ++i) {
      arrays.items[i] = static_cast<std::int32_t>(rng.below(kItems));
      arrays.values[i] = static_cast<float>(1 + rng.below(5));
    }
  });
  arrays.user_offsets = {0, kRatings};
  arrays.user_ids = {0};
  for (std::int32_t item = 0; item < kItems; ++item) arrays.item_ids.push_back(item);
  PinnedRing::of_process().reserve(8 * kRatings);
  return Ratings(std::move(arrays));
}

const Ratings& netflix() {
  static const Ratings made = make_ratings();
  return made;
}

template <class Upload>
void measure(benchmark::State& state, const Upload& upload) {
  ThreadTeam team(static_cast<int>(state.range(0)));
  Stream stream;
  Uploader uploader(team, stream.get());
  upload(uploader);  // the device's memory is had
  for (auto _ : state) {
    MF_CUDA(cudaStreamSynchronize(stream.get()));
    const auto start = Clock::now();
    const auto ratings = upload(uploader);
    MF_CUDA(cudaStreamSynchronize(stream.get()));
    state.SetIterationTime(seconds_since(start));
  }
  state.counters["ratings"] = rate_counter(static_cast<double>(kRatings));
}

void eight_bytes(benchmark::State& state) {
  const auto items = netflix().items();
  const auto values = netflix().values();
  measure(state, [&](Uploader& uploader) {
    return uploader.filled<RowRating>(kRatings,
                                      [&](std::int64_t begin, std::int64_t end, RowRating* out) {
                                        for (std::int64_t i = begin; i < end; ++i)
                                          *out++ = {items[i], values[i]};
                                      });
  });
}

void as_rows(benchmark::State& state, const Ratings& ratings) {
  RowPieces rows;
  rows.pieces = {{ratings.items(), ratings.values()}};
  measure(state, [&](Uploader& uploader) { return uploader.row_ratings(rows, ratings); });
}

void packed_on_the_way(benchmark::State& state) { as_rows(state, netflix()); }

void packed(benchmark::State& state) {
  static const Ratings ratings = [] {
    Ratings made = netflix();
    ThreadTeam team(hardware_threads());
    made.keep_packed(team);
    return made;
  }();
  as_rows(state, ratings);
}

// On the host: what loading takes longer by.
void pack(benchmark::State& state) {
  ThreadTeam team(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    const auto start = Clock::now();
    benchmark::DoNotOptimize(pack_ratings(netflix().items(), netflix().values(), kItems, team));
    state.SetIterationTime(seconds_since(start));
  }
  state.counters["ratings"] = rate_counter(static_cast<double>(kRatings));
}

void threads(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("threads")->Arg(4)->Arg(16)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(eight_bytes)->Apply(threads);
BENCHMARK(packed)->Apply(threads);
BENCHMARK(packed_on_the_way)->Apply(threads);
BENCHMARK(pack)->Apply(threads);

}  // namespace
}  // namespace mf::cuda
