// The ring of several devices on one device, to find the sums of steps that it bears. Its ranks
// work in turn. They update other users and items at a time, so each row is updated as on several
// devices. The time is an epoch of all ranks. Counters: the largest sum of the steps that write an
// item at once (ring_thin_above), the seeds, the seeds with finite factors after five epochs
// (finite), and their mean RMSE on every sixteenth training rating.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/cuda/stored_model.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/sgd_tiled/blocks.hpp"
#include "algorithms/sgd_tiled/device_tiles.hpp"
#include "algorithms/sgd_tiled/kernels.hpp"
#include "algorithms/sgd_tiled/ring.hpp"
#include "algorithms/sgd_tiled/rule.hpp"
#include "testing/cuda/bench_runner.hpp"

namespace mf::sgd_tiled {
namespace {

constexpr int kEpochs = 5;
constexpr std::int64_t kShare = 16;  // of the ratings that the RMSE is taken on

struct RingCase {
  std::string like;
  double scale;
  int ranks;
  double rate, reg;
  double sum;  // of steps; 0: by the rule
  int seeds;
};

// Ratings on host and device. The last set is kept.
struct Set {
  Ratings all;
  RatingLevel level{0};
  AlignedVector<std::int64_t> counts;        // of items
  AlignedVector<std::int64_t> item_offsets;  // of items
  cuda::DeviceRatings on_device;

  Set(Ratings&& ratings, ThreadTeam& team, cudaStream_t stream)
      : all(std::move(ratings)), on_device(all, team, stream) {
    counts.resize(all.n_items());
    double sum = 0;
    double squares = 0;
    for (std::int64_t k = 0; k < all.nnz(); ++k) {
      ++counts[all.items()[k]];
      sum += all.values()[k];
      squares += double{all.values()[k]} * all.values()[k];
    }
    const double mean = sum / static_cast<double>(all.nnz());
    level = {mean, std::sqrt(squares / static_cast<double>(all.nnz()) - mean * mean)};
    item_offsets.push_back(0);
    for (const auto count : counts) item_offsets.push_back(item_offsets.back() + count);
  }
};

struct Rank {
  RowRange users;
  cuda::DeviceBuffer<std::int64_t> offsets;
  std::vector<DeviceTiles> tiles;  // of each block
  cuda::DeviceBuffer<RowRating> ratings;
};

class EmulatedRing {
 public:
  EmulatedRing(const RingCase& what, const Set& set, ThreadTeam& team, cudaStream_t stream)
      : what_(what),
        set_(set),
        team_(team),
        stream_(stream),
        uploader_(team, stream),
        settings_(read_settings(
            default_params(find_algorithm("sgd_tiled").params,
                           Json{{"factors", 128}, {"reg", what.reg}, {"model", "plain"}}))) {
    const Ratings& all = set.all;
    const ProblemShape problem = {all.n_users(), all.n_items(), all.nnz()};
    const RingShape shape = {what.ranks,
                             problem.n_items,
                             problem.nnz,
                             static_cast<double>(row_bytes()),
                             one_device_workers(problem, settings_.writes),
                             0};
    halves_ = ring_halves(shape);
    laps_ = ring_laps(shape, halves_);
    workers_ = ring_workers(shape, halves_);
    const RingGroups groups = {groups_at_once(settings_, lock_free_workers(problem)),
                               groups_at_once(settings_, workers_),
                               std::int64_t{what.ranks} * halves_};
    const double step = ring_step(settings_.model, what.rate, set.level);
    const double sum_of_rating =
        step * static_cast<double>(groups.rank * groups.parts) / static_cast<double>(problem.nnz);
    const std::int64_t above =
        what.sum > 0 ? static_cast<std::int64_t>(what.sum / sum_of_rating)
                     : ring_thin_above(settings_.thin_above, groups, problem.nnz, step);
    sum_ = sum_of_rating * static_cast<double>(above);
    exponents_ = uploader_.array(View<const std::uint8_t>(thin_items(set.counts, above).exponents));
    users_ = shard_rows(all.user_offsets(), ratings_and(0), what.ranks, 1);
    const RowShards items = shard_rows(set.item_offsets, ratings_and(0), what.ranks, halves_);
    for (int block = 0; block < what.ranks; ++block) {
      for (int half = 0; half < halves_; ++half) cuts_.push_back(items.part(block, half).end);
    }
  }

  double sum_of_steps() const { return sum_; }

  // The RMSE, if it is finite; adds the seconds of the epochs.
  std::optional<double> run(std::uint64_t seed, const cuda::Stream& stream, double& seconds) {
    std::vector<Rank> ranks;
    for (int rank = 0; rank < what_.ranks; ++rank) ranks.push_back(rank_of(rank, seed));
    InitSpec init;
    init.kind = InitKind::uniform;
    init.seed = seed;
    const Model start = initial_model(set_.all.n_users(), set_.all.n_items(), settings_.factors,
                                      settings_.model, set_.level, init, team_.size());
    cuda::StoredModel model(settings_.storage, start, uploader_);
    for (int epoch = 1; epoch <= kEpochs; ++epoch) {
      const double rate = what_.rate / (1 + .1 * std::pow(epoch - 1, 1.5));
      seconds += cuda::device_seconds(
          stream, [&] { run_epoch(ranks, model, seed, epoch, static_cast<float>(rate)); });
    }
    return rmse_of(model);
  }

 private:
  std::int64_t row_bytes() const {
    return storage_stride(settings_.storage, settings_.factors) * storage_bytes(settings_.storage);
  }

  Rank rank_of(int number, std::uint64_t seed) {
    Rank rank;
    rank.users = users_.own(number);
    const auto all = set_.all.user_offsets();
    const std::int64_t first = all[rank.users.begin];
    AlignedVector<std::int64_t> offsets;
    for (auto u = rank.users.begin; u <= rank.users.end; ++u) offsets.push_back(all[u] - first);
    rank.offsets = uploader_.array(View<const std::int64_t>(offsets));
    const ItemBlocks blocks({rank.offsets.data(), set_.on_device.rows().ratings + first,
                             rank.users.size(), offsets.back()},
                            cuts_, stream_);
    rank.ratings = cuda::DeviceBuffer<RowRating>(blocks.nnz());
    for (int block = 0; block + 1 < static_cast<int>(cuts_.size()); ++block) {
      const std::uint64_t own = seed + static_cast<std::uint64_t>(block);
      const auto users = blocks.users_in(block);
      rank.tiles.push_back(
          make_device_tiles(users, settings_.chunk, bundle_size(settings_), own, stream_));
      launch_shuffle(users, exponents_.data(), rank.ratings.data(), own, stream_);
    }
    MF_CUDA(cudaStreamSynchronize(stream_));  // the blocks end
    return rank;
  }

  void run_epoch(const std::vector<Rank>& ranks, cuda::StoredModel& model, std::uint64_t seed,
                 int epoch, double rate) {
    for (int round = 0; round < laps_ * what_.ranks; ++round) {
      const int lap = round / what_.ranks;
      for (int part = 0; part < halves_ * what_.ranks; ++part) {
        const int rank = part % what_.ranks;
        const int block = block_at(rank, round, what_.ranks) * halves_ + part / what_.ranks;
        const DeviceTiles& tiles = ranks[rank].tiles[block];
        const std::uint64_t rounding = seed + mix64((static_cast<std::uint64_t>(epoch) << 32) +
                                                    (static_cast<std::uint64_t>(round) << 16) +
                                                    static_cast<std::uint64_t>(part));
        launch_pass({settings_,
                     {settings_.factors, tiles.chunks.data(), tiles.bundles,
                      range_of_lap(tiles.bundles, lap, laps_), workers_, ranks[rank].ratings.data(),
                      static_cast<std::byte*>(model.p()) + ranks[rank].users.begin * row_bytes(),
                      model.q(), nullptr, nullptr, 1},
                     step_at(rate, settings_.reg, 0),
                     epoch_order(tiles.bundles, seed, epoch),
                     static_cast<std::uint32_t>(mix64(rounding)),
                     static_cast<std::uint32_t>(epoch),
                     stream_});
      }
    }
  }

  std::optional<double> rmse_of(cuda::StoredModel& model) {
    const FactorView v = model.view(stream_);
    AlignedVector<float> p(v.p_stride * v.n_users);
    AlignedVector<float> q(v.q_stride * v.n_items);
    cuda::download(View<float>(p), v.p, stream_);
    cuda::download(View<float>(q), v.q, stream_);
    constexpr std::int64_t kChunk = 1 << 14;
    const std::int64_t count = set_.all.nnz() / kShare;
    std::vector<double> parts(count / kChunk + 1);
    team_.for_chunks(count, kChunk, [&](std::int64_t begin, std::int64_t end) {
      for (auto at = begin; at < end; ++at) {
        const std::int64_t k = at * kShare;
        const float* x = p.data() + set_.all.users()[k] * v.p_stride;
        const float* y = q.data() + set_.all.items()[k] * v.q_stride;
        const double error = set_.all.values()[k] - std::inner_product(x, x + v.factors, y, 0.0);
        parts[begin / kChunk] += error * error;
      }
    });
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    const double rmse = std::sqrt(sum / static_cast<double>(count));
    return std::isfinite(rmse) ? std::optional(rmse) : std::nullopt;
  }

  const RingCase what_;
  const Set& set_;
  ThreadTeam& team_;
  cudaStream_t stream_;
  cuda::Uploader uploader_;
  const Settings settings_;
  int halves_ = 1;
  int laps_ = 1;
  std::int64_t workers_ = 0;
  double sum_ = 0;
  cuda::DeviceBuffer<std::uint8_t> exponents_;
  RowShards users_;
  std::vector<std::int64_t> cuts_ = {0};
};

const Set& set_of(const RingCase& what, ThreadTeam& team, cudaStream_t stream) {
  static std::string kept;
  static std::unique_ptr<const Set> set;
  if (what.like != kept) {
    set.reset();
    set = std::make_unique<const Set>(
        make_look_alike(what.like, what.scale, 1, hardware_threads()).ratings, team, stream);
    kept = what.like;
  }
  return *set;
}

void run(benchmark::State& state, const RingCase& what) {
  ThreadTeam team(hardware_threads());
  const cuda::Stream stream;
  EmulatedRing ring(what, set_of(what, team, stream.get()), team, stream.get());
  int finite = 0;
  double rmse = 0;
  for (auto _ : state) {
    double seconds = 0;
    for (int seed = 1; seed <= what.seeds; ++seed) {
      if (const auto one = ring.run(static_cast<std::uint64_t>(seed), stream, seconds)) {
        ++finite;
        rmse += *one;
      }
    }
    state.SetIterationTime(seconds / (what.seeds * kEpochs));
  }
  state.counters["sum_of_steps"] = ring.sum_of_steps();
  state.counters["seeds"] = what.seeds;
  state.counters["finite"] = finite;
  if (finite > 0) state.counters["rmse"] = rmse / finite;
}

void add(const RingCase& what) {
  const std::string label =
      fmt::format("ring/{}/ranks:{}/rate:{}/sum:{}", what.like, what.ranks, what.rate,
                  what.sum > 0 ? fmt::format("{:g}", what.sum) : "rule");
  benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) { run(state, what); })
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool kRegistered = [] {
  // The rates of Yahoo! Music, whose ratings go to 100, make steps as long as Netflix's.
  for (const int ranks : {2, 4}) {
    for (const double rate : {.04, .045}) add({"netflix", 1, ranks, rate, .05, 0, 20});
  }
  for (const double sum : {.25, .31, .36, .4}) add({"netflix", 1, 2, .04, .05, sum, 5});
  for (const int ranks : {2, 4}) {
    for (const double rate : {.0024, .0027}) add({"yahoomusic", 1, ranks, rate, 1.2, 0, 20});
  }
  for (const int ranks : {2, 4}) {
    for (const double rate : {.04, .045}) add({"hugewiki", .1, ranks, rate, .05, 0, 20});
  }
  return true;
}();

}  // namespace
}  // namespace mf::sgd_tiled
