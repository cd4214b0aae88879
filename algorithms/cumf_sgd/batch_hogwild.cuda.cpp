// batch_hogwild on the device; over the devices of several ranks in the rounds of rounds.hpp.
#include <algorithm>
#include <memory>
#include <vector>

#include "algorithms/core/cuda/ranks/on_devices.hpp"
#include "algorithms/core/cuda/ratings/rank_ratings.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/device_grid.hpp"
#include "algorithms/cumf_sgd/device_sgd.hpp"
#include "algorithms/cumf_sgd/rounds.hpp"
#include "base/json/json.hpp"

namespace mf::cumf_sgd {
namespace {

constexpr std::uint64_t kShuffleSalt = 0x73687566666c65ULL;
constexpr std::uint64_t kBlockSalt = 0x9e3779b97f4a7c15ULL;

// For a rank: the owners of rows, and the events that streams wait for.
struct Ring {
  Ring(int ranks, const cuda::RankRatings& ratings, std::uint64_t seed)
      : users(ratings.user_shards()),
        items(ratings.item_shards()),
        rounds(ranks, items.parts_of_rank(), seed) {}

  RowRange segment(int number) const {
    return items.part(number / items.parts_of_rank(), number % items.parts_of_rank());
  }

  RowShards users, items;  // parts of a rank's items are its first segments
  Rounds rounds;
  std::vector<std::int64_t> offsets;  // of the ratings of each segment
  cuda::Event done, begun, arrived;
};

class BatchHogwild : public cuda::OnDevices<DeviceSgd<HogwildSettings>> {
 public:
  using OnDevices::OnDevices;

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    start(train, initial, context);
    workers_ = settings_.workers > 0 ? settings_.workers
                                     : lock_free_workers({train.n_users(), train.n_items(), nnz_});
    if (context.ranks != nullptr) return prepare_share(train, initial, context);
    const auto ratings = cuda::ratings_on_device(train, context);
    shuffle(*ratings);
    set_work(rated_shape(train, context));
    ratings->release_rows();
    cuda::Uploader uploader(*context.team, stream_);
    model_ = cuda::StoredModel(settings_.storage, initial, uploader);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    if (ring_) {
      run_rounds(args, context);
      return updates_;
    }
    const RunOrder order = order_of(nnz_, seed_, args.epoch, workers_);
    launch_batch_hogwild(pass(args), order, settings_.mapping);
    return updates_of(order, nnz_);
  }

  Json facts() const override {
    if (!ring_) return Algorithm::facts();
    const int rank = devices_->rank();
    return {{"own_users", ring_->users.own(rank).size()},
            {"own_ratings_by_user", users_.size()},
            {"segments", ring_->rounds.segments()},
            {"workers", workers_}};
  }

 private:
  // Once, as published: runs of neighbours then are random ratings.
  void shuffle(const cuda::DeviceRatings& ratings) {
    users_ = cuda::DeviceBuffer<std::int32_t>(nnz_);
    items_ = cuda::DeviceBuffer<std::int32_t>(nnz_);
    values_ = cuda::DeviceBuffer<float>(nnz_);
    cuda::StreamBuffer<std::int32_t> of_user(nnz_, stream_);
    cuda::expand_users(ratings.rows(), of_user.data(), stream_);
    launch_permute(ratings.rows(), of_user.data(), users_.data(), items_.data(), values_.data(),
                   Permutation::of(nnz_, seed_ ^ kShuffleSalt), stream_);
  }

  // For `count` ratings: all, or a block's.
  RunOrder order_of(std::int64_t count, std::uint64_t seed, std::int64_t epoch,
                    std::int64_t workers) const {
    RunOrder order{};
    order.run_length = std::min(settings_.run, std::max<std::int64_t>(count, 1));
    order.runs = (count + order.run_length - 1) / order.run_length;
    order.workers = workers;
    order.replacement = settings_.sampling == Sampling::replacement;
    order.seed = seed;
    order.epoch = epoch;
    order.permutation = epoch_order(std::max<std::int64_t>(order.runs, 1), seed, epoch);
    return order;
  }
  static std::int64_t updates_of(const RunOrder& order, std::int64_t count) {
    return order.replacement ? order.runs * order.run_length : count;
  }

  // ---- over ranks ----

  void prepare_share(const Ratings& train, const Model& initial, Context& context) {
    auto& devices = cuda::DeviceCommunicator::of(*context.ranks->group);
    const SegmentShape shape = {devices.size(), train.n_items(), nnz_,
                                static_cast<double>(row_bytes()), workers_};
    const int per_rank = segments_of_rank(shape);
    const auto cut = [&](int parts) {
      return [&, parts](View<const std::int64_t> offsets) {
        return shard_rows(offsets, ratings_and(0), *context.ranks->group, parts, *context.team);
      };
    };
    prepare_on(devices, context, [&] {
      cuda::RankRatings ratings(train, context, cut(1), cut(per_rank), devices);
      ring_ = std::make_unique<Ring>(devices.size(), ratings, seed_);
      make_blocks(ratings);
      cuda::Uploader uploader(*context.team, stream_);
      model_ = cuda::StoredModel(settings_.storage, initial, uploader);
      if (settings_.workers == 0) workers_ = workers_of_rank(shape, per_rank);
      count_updates(*context.ranks->group);
    });
    set_work(rated_shape(train, context));
  }

  void make_blocks(cuda::RankRatings& ratings) {
    std::vector<std::int64_t> cuts = {0};
    for (int number = 0; number < ring_->rounds.segments(); ++number) {
      cuts.push_back(ring_->segment(number).end);
    }
    DeviceBlocks blocks = make_device_blocks(ratings.rows(), ratings.own_users().begin, cuts,
                                             block_seed(ring_->rounds.segments()), stream_);
    ratings.release_rows();
    users_ = std::move(blocks.users);
    items_ = std::move(blocks.items);
    values_ = std::move(blocks.values);
    ring_->offsets = std::move(blocks.offsets);
  }

  std::int64_t count_of(int segment) const {
    return ring_->offsets[segment + 1] - ring_->offsets[segment];
  }

  // Another for each block of each rank.
  std::uint64_t block_seed(int segment) const {
    const auto block = static_cast<std::uint64_t>(devices_->rank()) *
                           static_cast<std::uint64_t>(ring_->rounds.segments() + 1) +
                       static_cast<std::uint64_t>(segment);
    return mix64(seed_ + kBlockSalt * (block + 1));
  }

  // For all ranks.
  void count_updates(Communicator& ranks) {
    double sum = 0;
    for (int segment = 0; segment < ring_->rounds.segments(); ++segment) {
      const std::int64_t count = count_of(segment);
      sum += static_cast<double>(updates_of(order_of(count, seed_, 1, workers_), count));
    }
    ranks.all_sum(std::span(&sum, 1));
    updates_ = static_cast<std::int64_t>(sum);
  }

  void run_rounds(const EpochArgs& args, Context& context) {
    const std::vector<Round> rounds = ring_->rounds.plan_epoch(args.epoch);
    move(rounds.front().late);
    for (std::size_t number = 0; number < rounds.size(); ++number) {
      {
        const PhaseScope phase(context.phases, "exchange");
        await_segments();
      }
      const bool last = number + 1 == rounds.size();
      if (!last) move(rounds[number + 1].early);
      {
        const PhaseScope phase(context.phases, "update");
        pass_over(rounds[number].segment[devices_->rank()], args);
      }
      ring_->done.record(stream_);
      if (!last) move(rounds[number + 1].late);
      devices_->pace(stream_);
    }
  }

  void pass_over(int segment, const EpochArgs& args) {
    const std::int64_t count = count_of(segment);
    if (count == 0) return;
    const std::int64_t begin = ring_->offsets[segment];
    const std::uint64_t seed = block_seed(segment);
    Pass own = pass(args);
    own.arrays.nnz = count;
    own.arrays.users += begin;
    own.arrays.items += begin;
    own.arrays.values += begin;
    own.seed ^= static_cast<std::uint32_t>(seed);
    launch_batch_hogwild(own, order_of(count, seed, args.epoch, workers_), settings_.mapping);
  }

  // Waits for all queued arrivals.
  void await_segments() { MF_CUDA(cudaStreamWaitEvent(stream_, ring_->arrived.get(), 0)); }

  // Beside the pass that is queued next, which begins when they may: were it there first, they
  // would wait for room. After the pass that was queued last.
  void move(const std::vector<Transfer>& transfers) {
    const cudaStream_t beside = devices_->stream();
    std::vector<cuda::DevicePiece> sends, receives;
    for (const Transfer& one : transfers) {
      if (one.from == devices_->rank()) sends.push_back(piece(one.segment, one.to));
      if (one.to == devices_->rank()) receives.push_back(piece(one.segment, one.from));
    }
    if (sends.empty() && receives.empty()) return;
    MF_CUDA(cudaStreamWaitEvent(beside, ring_->done.get(), 0));
    ring_->begun.record(beside);
    devices_->exchange(sends, receives, beside);
    ring_->arrived.record(beside);
    MF_CUDA(cudaStreamWaitEvent(stream_, ring_->begun.get(), 0));
  }

  cuda::DevicePiece piece(int segment, int with) {
    const RowRange rows = ring_->segment(segment);
    return {with, static_cast<std::byte*>(model_.q()) + rows.begin * row_bytes(),
            rows.size() * row_bytes()};
  }

  // Each rank has its users, and the segments that it worked on last.
  void gather(cudaStream_t /*stream*/) override {
    cuda::DeviceCommunicator& all = *devices_;
    all.gather(model_.p(), 0, row_bytes(), ring_->users, stream_);
    for (int segment = 0; segment < ring_->rounds.segments(); ++segment) {
      const int holder = ring_->rounds.holder(segment);
      if (holder == 0) continue;
      const cuda::DevicePiece one = piece(segment, all.rank() == 0 ? holder : 0);
      if (all.rank() == 0) all.exchange({}, {&one, 1}, stream_);
      if (all.rank() == holder) all.exchange({&one, 1}, {}, stream_);
    }
  }

  std::int64_t row_bytes() const {
    return storage_stride(settings_.storage, settings_.factors) * storage_bytes(settings_.storage);
  }

  std::unique_ptr<Ring> ring_;
  std::int64_t updates_ = 0;  // of an epoch of all ranks
  std::int64_t workers_ = 1;
};

const RegisterFactory kHogwild("batch_hogwild", [](const Params& params) {
  return std::make_unique<BatchHogwild>(read_hogwild(params));
});

}  // namespace
}  // namespace mf::cumf_sgd
