// batch_hogwild on the device.
#include <algorithm>

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
    const PhaseScope phase(context.phases, "transfer");
    cuda::Uploader uploader(*context.team, stream_);
    upload_shuffled(train, uploader);
    model_ = cuda::StoredModel(settings_.storage, initial, uploader);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context&) override {
    const RunOrder order = order_of(args.epoch);
    launch_batch_hogwild(pass(args), order, settings_.mapping);
    return order.replacement ? order.runs * order.run_length : nnz_;
  }

 private:
  // Once, as published: runs of neighbours then are random ratings.
  void upload_shuffled(const Ratings& train, cuda::Uploader& uploader) {
    const auto users = uploader.array(train.users());
    const auto items = uploader.array(train.items());
    const auto values = uploader.array(train.values());
    users_ = cuda::DeviceBuffer<std::int32_t>(nnz_);
    items_ = cuda::DeviceBuffer<std::int32_t>(nnz_);
    values_ = cuda::DeviceBuffer<float>(nnz_);
    launch_permute({0, nnz_, users.data(), items.data(), values.data(), nullptr, nullptr},
                   users_.data(), items_.data(), values_.data(),
                   Permutation::of(nnz_, seed_ ^ kShuffleSalt), stream_);
    MF_CUDA(cudaStreamSynchronize(stream_));  // before the unshuffled copies go
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
