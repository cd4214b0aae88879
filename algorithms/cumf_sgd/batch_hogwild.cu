// batch_hogwild on the device.
#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stored_model.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/kernels.hpp"

namespace mf::cumf_sgd {
namespace {

using cuda::DeviceBuffer;

constexpr std::uint64_t kShuffleSalt = 0x73687566666c65ULL;

class BatchHogwild : public Algorithm {
 public:
  explicit BatchHogwild(const Settings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, settings_.factors, train, initial);
    work_ = pass_work(settings_, train);
    seed_ = context.seed;
    nnz_ = train.nnz();
    workers_ = settings_.workers > 0
                   ? settings_.workers
                   : lock_free_workers({train.n_users(), train.n_items(), train.nnz()});
    stream_ = static_cast<cudaStream_t>(context.stream);
    const PhaseScope phase(context.phases, "transfer");
    upload_shuffled(train);
    model_ = cuda::StoredModel(settings_.storage, initial, *context.team, stream_);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context&) override {
    const RunOrder order = order_of(args.epoch);
    const auto keep = [&](double reg) { return static_cast<float>(1 - args.learning_rate * reg); };
    launch_batch_hogwild(
        settings_, arrays(),
        {static_cast<float>(args.learning_rate), keep(settings_.reg.p), keep(settings_.reg.q)},
        order, static_cast<std::uint32_t>(mixed(seed_ + order.epoch)), stream_);
    return order.replacement ? order.runs * order.run_length : nnz_;
  }

  FactorView factors() override { return model_.view(stream_); }
  Work work_per_epoch() const override { return work_; }

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
                                        mixed(seed_ + 0x9e3779b97f4a7c15ULL * order.epoch));
    return order;
  }

  Arrays arrays() {
    Arrays a;
    a.factors = settings_.factors;
    a.nnz = nnz_;
    a.users = users_.data();
    a.items = items_.data();
    a.values = values_.data();
    a.p = model_.p();
    a.q = model_.q();
    return a;
  }

  Settings settings_;
  Work work_;
  std::uint64_t seed_ = 0;
  std::int64_t nnz_ = 0;
  std::int64_t workers_ = 1;
  cudaStream_t stream_ = nullptr;
  DeviceBuffer<std::int32_t> users_, items_;
  DeviceBuffer<float> values_;
  cuda::StoredModel model_;
};

const RegisterFactory kHogwild("batch_hogwild", [](const Params& params) {
  return std::make_unique<BatchHogwild>(read_settings(params));
});

}  // namespace
}  // namespace mf::cumf_sgd
