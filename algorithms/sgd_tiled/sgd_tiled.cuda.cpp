// sgd_tiled on the device; over the devices of several ranks by the ring of ring.hpp.
#include <array>
#include <memory>
#include <vector>

#include "algorithms/core/cuda/ranks/on_devices.hpp"
#include "algorithms/core/cuda/ratings/rank_ratings.hpp"
#include "algorithms/core/cuda/stored_model.hpp"
#include "algorithms/core/rank_train.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/sgd_tiled/blocks.hpp"
#include "algorithms/sgd_tiled/device_tiles.hpp"
#include "algorithms/sgd_tiled/kernels.hpp"
#include "algorithms/sgd_tiled/ring.hpp"
#include "algorithms/sgd_tiled/rule.hpp"
#include "base/json/json.hpp"

namespace mf::sgd_tiled {
namespace {

// For a rank: the owners of users and items, and the events that streams wait for.
struct Ring {
  RowShards users, items;  // parts of a rank's items are the halves of its first block, or it whole
  int laps = 1;
  std::int64_t thin_above = 0;
  cuda::Event done, begun;
  std::array<cuda::Event, kMostHalves> arrived;

  int halves() const { return items.parts_of_rank(); }
  RowRange half(int block, int number) const { return items.part(block, number); }
};

class SgdTiled : public cuda::OnDevices<> {
 public:
  explicit SgdTiled(const Settings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(settings_.model, settings_.factors, train, initial);
    mean_ = settings_.biased() ? initial.mean : 0;
    seed_ = rounding_seed_ = context.seed;
    stream_ = context.stream;
    if (context.ranks != nullptr) return prepare_share(train, initial, context);
    workers_ = workers_of_one({train.n_users(), train.n_items(), train.nnz()});
    const auto ratings = cuda::ratings_on_device(train, context);
    tiles_.push_back(make_device_tiles(ratings->rows(), settings_.chunk, bundle_size(settings_),
                                       seed_, stream_));
    AlignedVector<std::int64_t> counts(ratings->n_items());
    cuda::download(View<std::int64_t>(counts), ratings->item_counts(stream_), stream_);
    const auto exponents = thin(counts, settings_.thin_above, context);
    ratings_ = cuda::DeviceBuffer<RowRating>(ratings->nnz());
    launch_shuffle(ratings->rows(), exponents.data(), ratings_.data(), seed_, stream_);
    ratings->release_rows();
    start(initial, context);
    account(rated_shape(train, context));
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    if (ring_) {
      run_rounds(args, context);
    } else {
      pass(0, args, 0, 1);
    }
    return static_cast<std::int64_t>(work_.updates);
  }

  FactorView factors() override {
    copy_item_bias(model_.item_bias(), 1, item_bias_.data(), item_bias_stride_);
    return model_.view(stream_);
  }
  Work work_per_epoch() const override { return work_; }

  Json facts() const override {
    Json facts = {{"writes_made", writes_made_}};
    if (!ring_) return facts;
    const int rank = devices_->rank();
    facts["own_users"] = ring_->users.own(rank).size();
    facts["own_ratings_by_user"] = ratings_.size();
    facts["first_items"] = ring_->items.own(rank).size();
    facts["workers"] = workers_;
    facts["halves"] = ring_->halves();
    facts["laps"] = ring_->laps;
    facts["thin_above"] = ring_->thin_above;
    return facts;
  }

 private:
  // A lap's part of a pass over the ratings of a block; on one device all of the only one.
  void pass(int block, const EpochArgs& args, int lap, int laps) {
    const DeviceTiles& tiles = tiles_[block];
    const auto epoch = static_cast<std::uint64_t>(args.epoch);
    const std::uint64_t rounding = rounding_seed_ + epoch +
                                   static_cast<std::uint64_t>(lap) * 0x726f756e64ULL +
                                   static_cast<std::uint64_t>(block) * 0x626c6f636bULL;
    launch_pass({settings_,
                 {settings_.factors, tiles.chunks.data(), tiles.bundles,
                  range_of_lap(tiles.bundles, lap, laps), workers_, ratings_.data(),
                  row_of(model_.p(), first_user_), model_.q(), offset(model_.user_bias()),
                  item_bias_.data(), item_bias_stride_},
                 step_at(args.learning_rate, settings_.reg, mean_),
                 epoch_order(tiles.bundles, seed_, args.epoch),
                 static_cast<std::uint32_t>(mix64(rounding)),
                 static_cast<std::uint32_t>(epoch),
                 stream_});
  }

  // ---- over ranks ----

  void prepare_share(const Ratings& train, const Model& initial, Context& context) {
    auto& devices = cuda::DeviceCommunicator::of(*context.ranks->group);
    prepare_on(devices, context, [&] {
      const auto cut = [&](int parts) {
        return [&, parts](View<const std::int64_t> offsets) {
          return shard_rows(offsets, ratings_and(0), *context.ranks->group, parts, *context.team);
        };
      };
      const ProblemShape problem = {train.n_users(), train.n_items(), all_ratings(train, context)};
      const RingShape shape = {devices.size(),
                               problem.n_items,
                               problem.nnz,
                               static_cast<double>(row_bytes()),
                               one_device_workers(problem, settings_.writes),
                               settings_.workers};
      const int halves = ring_halves(shape);
      cuda::RankRatings ratings(train, context, cut(1), cut(halves), devices);
      ring_ = std::make_unique<Ring>();
      ring_->users = ratings.user_shards();
      ring_->items = ratings.item_shards();
      first_user_ = ratings.own_users().begin;
      rounding_seed_ = seed_ + static_cast<std::uint64_t>(devices.rank()) * 0x9e3779b97f4a7c15ULL;
      ring_->laps = ring_laps(shape, halves);
      workers_ = ring_workers(shape, halves);
      const RingGroups groups = {groups_at_once(settings_, workers_of_one(problem)),
                                 groups_at_once(settings_, workers_),
                                 std::int64_t{devices.size()} * halves};
      ring_->thin_above =
          ring_thin_above(settings_.thin_above, groups, problem.nnz,
                          ring_step(settings_.model, context.first_learning_rate, context.level));
      make_blocks(ratings, context);
      start(initial, context);
    });
    account(rated_shape(train, context));
  }

  void make_blocks(cuda::RankRatings& ratings, Context& context) {
    std::vector<std::int64_t> cuts = {0};
    for (int block = 0; block < devices_->size(); ++block) {
      for (int half = 0; half < ring_->halves(); ++half)
        cuts.push_back(ring_->half(block, half).end);
    }
    ItemBlocks blocks(ratings.rows(), cuts, stream_);
    ratings.release_rows();
    AlignedVector<std::int64_t> counts;
    const View<const std::int64_t> offsets = ratings.item_offsets();
    for (std::int64_t i = 0; i + 1 < offsets.size(); ++i) {
      counts.push_back(offsets[i + 1] - offsets[i]);
    }
    const auto exponents = thin(counts, ring_->thin_above, context);
    ratings_ = cuda::DeviceBuffer<RowRating>(blocks.nnz());
    for (int block = 0; block + 1 < static_cast<int>(cuts.size()); ++block) {
      const std::uint64_t seed = seed_ + static_cast<std::uint64_t>(block);
      const cuda::RatingsOfRows users = blocks.users_in(block);
      tiles_.push_back(
          make_device_tiles(users, settings_.chunk, bundle_size(settings_), seed, stream_));
      launch_shuffle(users, exponents.data(), ratings_.data(), seed, stream_);
    }
    MF_CUDA(cudaStreamSynchronize(stream_));  // the blocks end
  }

  void run_rounds(const EpochArgs& args, Context& context) {
    cuda::DeviceCommunicator& devices = *devices_;
    for (int round = 0; round < ring_->laps * devices.size(); ++round) {
      const int block = block_at(devices.rank(), round, devices.size());
      const int next = block_at(devices.rank(), round + 1, devices.size());
      for (int half = 0; half < ring_->halves(); ++half) {
        {
          const PhaseScope phase(context.phases, "exchange");
          await_half(half);
        }
        {
          const PhaseScope phase(context.phases, "update");
          pass(block * ring_->halves() + half, args, round / devices.size(), ring_->laps);
        }
        send_half(ring_->half(block, half), ring_->half(next, half), half);
      }
      devices.pace(stream_);
    }
  }

  void end_epochs() override {
    for (int half = 0; half < ring_->halves(); ++half) await_half(half);
  }

  // Until the half that is worked on next is there; at first it is.
  void await_half(int half) {
    MF_CUDA(cudaStreamWaitEvent(stream_, ring_->arrived[half].get(), 0));
  }

  // Beside the pass over the other half, which begins when the exchange may: were it there first,
  // the exchange would wait for room.
  void send_half(RowRange out, RowRange in, int half) {
    cuda::DeviceCommunicator& devices = *devices_;
    const cudaStream_t beside = devices.stream();
    ring_->done.record(stream_);
    MF_CUDA(cudaStreamWaitEvent(beside, ring_->done.get(), 0));
    ring_->begun.record(beside);
    devices.shift(row_of(model_.q(), out.begin), out.size() * row_bytes(),
                  row_of(model_.q(), in.begin), in.size() * row_bytes(), beside);
    if (!item_bias_.empty()) {
      const std::int64_t bias_bytes = item_bias_stride_ * std::int64_t{sizeof(float)};
      devices.shift(item_bias_.data() + out.begin * item_bias_stride_, out.size() * bias_bytes,
                    item_bias_.data() + in.begin * item_bias_stride_, in.size() * bias_bytes,
                    beside);
    }
    ring_->arrived[half].record(beside);
    MF_CUDA(cudaStreamWaitEvent(stream_, ring_->begun.get(), 0));
  }

  // Each rank has its users and, between epochs, the items of its block.
  void gather(cudaStream_t /*stream*/) override {
    gather_rows(model_.p(), row_bytes(), ring_->users);
    gather_rows(model_.q(), row_bytes(), ring_->items);
    if (settings_.biased()) {
      gather_rows(model_.user_bias(), sizeof(float), ring_->users);
      gather_rows(item_bias_.data(), item_bias_stride_ * std::int64_t{sizeof(float)}, ring_->items);
    }
  }

  void gather_rows(void* rows, std::int64_t bytes, const RowShards& shards) {
    devices_->gather(rows, 0, bytes, shards, stream_);
  }

  // ---- both ----

  std::int64_t row_bytes() const {
    return storage_stride(settings_.storage, settings_.factors) * storage_bytes(settings_.storage);
  }
  void* row_of(void* rows, std::int64_t row) const {
    return static_cast<std::byte*>(rows) + row * row_bytes();
  }
  float* offset(float* user_bias) const {
    return user_bias == nullptr ? nullptr : user_bias + first_user_;
  }

  void start(const Model& initial, Context& context) {
    cuda::Uploader uploader(*context.team, stream_);
    model_ = cuda::StoredModel(settings_.storage, initial, uploader);
    if (settings_.biased()) spread_item_bias(initial.n_items);
  }

  void account(const RatedShape& rated) {
    work_ = pass_work(
        rated, settings_.factors, settings_.model, sizeof(RowRating),
        settings_.factors * storage_bytes(settings_.storage) + (settings_.biased() ? 4 : 0));
  }

  void spread_item_bias(std::int64_t items) {
    item_bias_stride_ = item_bias_stride(items);
    item_bias_ = cuda::zeros<float>(items * item_bias_stride_, stream_);
    copy_item_bias(item_bias_.data(), item_bias_stride_, model_.item_bias(), 1);
  }
  void copy_item_bias(float* to, std::int64_t to_stride, const float* from,
                      std::int64_t from_stride) const {
    const std::int64_t items = std::ssize(item_bias_) / item_bias_stride_;
    if (items == 0) return;
    MF_CUDA(cudaMemcpy2DAsync(to, to_stride * sizeof(float), from, from_stride * sizeof(float),
                              sizeof(float), items, cudaMemcpyDeviceToDevice, stream_));
  }

  std::int64_t workers_of_one(const ProblemShape& shape) const {
    return settings_.workers > 0 ? settings_.workers : lock_free_workers(shape);
  }

  // The exponents of all items, by their ratings.
  cuda::DeviceBuffer<std::uint8_t> thin(const AlignedVector<std::int64_t>& counts,
                                        std::int64_t above, Context& context) {
    const Thinning thinning = thin_items(counts, above);
    writes_made_ = thinning.writes_made;
    cuda::Uploader uploader(*context.team, stream_);
    return uploader.array(View<const std::uint8_t>(thinning.exponents));
  }

  Settings settings_;
  Work work_;
  double mean_ = 0;
  std::uint64_t seed_ = 0, rounding_seed_ = 0;
  std::int64_t workers_ = 1;
  std::int64_t first_user_ = 0;  // that chunks count users from
  double writes_made_ = 1;
  cudaStream_t stream_ = nullptr;
  std::vector<DeviceTiles> tiles_;  // of each block of items
  cuda::DeviceBuffer<RowRating> ratings_;
  cuda::StoredModel model_;
  cuda::DeviceBuffer<float> item_bias_;  // that training works on, of the biased model
  std::int64_t item_bias_stride_ = 1;
  std::unique_ptr<Ring> ring_;  // null: one device
};

const RegisterFactory kTiled("sgd_tiled", [](const Params& params) {
  return std::make_unique<SgdTiled>(read_settings(params));
});

}  // namespace
}  // namespace mf::sgd_tiled
