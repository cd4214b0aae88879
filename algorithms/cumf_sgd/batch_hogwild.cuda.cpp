// batch_hogwild on the device.
#include <algorithm>
#include <memory>

#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/device_sgd.hpp"

namespace mf::cumf_sgd {
namespace {

constexpr std::uint64_t kShuffleSalt = 0x73687566666c65ULL;

class BatchHogwild : public DeviceSgd<HogwildSettings> {
 public:
  using DeviceSgd::DeviceSgd;

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    start(train, initial, context);
    workers_ = settings_.workers > 0
                   ? settings_.workers
                   : lock_free_workers({train.n_users(), train.n_items(), train.nnz()});
    const auto ratings = cuda::ratings_on_device(train, context);
    shuffle(*ratings);
    set_work({nnz_, ratings->rating_users(stream_) + ratings->rated_items(stream_)});
    ratings->release_rows();
    cuda::Uploader uploader(*context.team, stream_);
    model_ = cuda::StoredModel(settings_.storage, initial, uploader);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context&) override {
    const RunOrder order = order_of(args.epoch);
    launch_batch_hogwild(pass(args), order, settings_.mapping);
    return order.replacement ? order.runs * order.run_length : nnz_;
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

  RunOrder order_of(std::int64_t epoch) const {
    RunOrder order{};
    order.run_length = std::min(settings_.run, std::max<std::int64_t>(nnz_, 1));
    order.runs = (nnz_ + order.run_length - 1) / order.run_length;
    order.workers = workers_;
    order.replacement = settings_.sampling == Sampling::replacement;
    order.seed = seed_;
    order.epoch = epoch;
    order.permutation = epoch_order(std::max<std::int64_t>(order.runs, 1), seed_, epoch);
    return order;
  }

  std::int64_t workers_ = 1;
};

const RegisterFactory kHogwild("batch_hogwild", [](const Params& params) {
  return std::make_unique<BatchHogwild>(read_hogwild(params));
});

}  // namespace
}  // namespace mf::cumf_sgd
