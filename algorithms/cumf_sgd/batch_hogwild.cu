// batch_hogwild on the device.
#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/device_sgd.hpp"

namespace mf::cumf_sgd {
namespace {

using cuda::DeviceBuffer;

constexpr std::uint64_t kShuffleSalt = 0x73687566666c65ULL;

class BatchHogwild : public DeviceSgd {
 public:
  using DeviceSgd::DeviceSgd;

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    start(train, initial, context);
    workers_ = settings_.workers > 0
                   ? settings_.workers
                   : lock_free_workers({train.n_users(), train.n_items(), train.nnz()});
    const PhaseScope phase(context.phases, "transfer");
    upload_shuffled(train);
    model_ = cuda::StoredModel(settings_.storage, initial, *context.team, stream_);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context&) override {
    const RunOrder order = order_of(args.epoch);
    launch_batch_hogwild(settings_, arrays(), step_at(args.learning_rate), order,
                         rounding_seed(args.epoch), stream_);
    return order.replacement ? order.runs * order.run_length : nnz_;
  }

 private:
  // Once, as published: runs of neighbours then are random ratings.
  void upload_shuffled(const Ratings& train) {
    const auto users = cuda::upload(train.users(), stream_);
    const auto items = cuda::upload(train.items(), stream_);
    const auto values = cuda::upload(train.values(), stream_);
    const auto count = static_cast<std::size_t>(nnz_);
    users_ = DeviceBuffer<std::int32_t>(count);
    items_ = DeviceBuffer<std::int32_t>(count);
    values_ = DeviceBuffer<float>(count);
    Arrays in;
    in.nnz = nnz_;
    in.users = users.data();
    in.items = items.data();
    in.values = values.data();
    launch_permute(in, users_.data(), items_.data(), values_.data(),
                   Permutation::of(nnz_, seed_ ^ kShuffleSalt), stream_);
    MF_CUDA(cudaStreamSynchronize(stream_));  // before the unshuffled copies go
  }

  RunOrder order_of(std::int64_t epoch) const {
    RunOrder order{};
    order.run_length = std::min<std::int64_t>(settings_.run, std::max<std::int64_t>(nnz_, 1));
    order.runs = (nnz_ + order.run_length - 1) / order.run_length;
    order.workers = workers_;
    order.replacement = settings_.sampling == Sampling::replacement;
    order.seed = seed_;
    order.epoch = static_cast<std::uint64_t>(epoch);
    order.permutation = Permutation::of(std::max<std::int64_t>(order.runs, 1),
                                        mix64(seed_ + 0x9e3779b97f4a7c15ULL * order.epoch));
    return order;
  }

  std::int64_t workers_ = 1;
};

const RegisterFactory kHogwild("batch_hogwild", [](const Params& params) {
  return std::make_unique<BatchHogwild>(read_settings(params));
});

}  // namespace
}  // namespace mf::cumf_sgd
