// EASE (ease.hpp) on the device, in fp32: one triangle of X^T X + reg I by a kernel, its inverse in
// place (device_inverse.hpp).
//
// The evaluator ranks users on the device, where B stays; single users are scored on the host by
// rows of it.
#include <algorithm>
#include <optional>

#include "algorithms/baseline/device_inverse.hpp"
#include "algorithms/baseline/ease.hpp"
#include "algorithms/baseline/ease_kernels.hpp"
#include "algorithms/baseline/item_weights.hpp"
#include "algorithms/core/registry.hpp"
#include "base/aligned.hpp"

namespace mf::baseline {
namespace {

class Ease : public ItemWeights {
 public:
  explicit Ease(const Params& params) : added_(params) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    ItemWeights::prepare(train, initial, context);
    stream_ = context.stream;
    ratings_ = cuda::ratings_on_device(train, context);
    n_ = train.n_items();
    b_ = cuda::DeviceBuffer<float>(std::int64_t{n_} * n_);
    diagonal_ = cuda::DeviceBuffer<float>(n_);
    inverse_.emplace(n_, DeviceInverse::Sizes{}, stream_);
    load_kernels();
    MF_CUDA(cudaMemsetAsync(b_.data(), 0, b_.bytes(), stream_));
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    {
      const PhaseScope phase(context.phases, "gram");
      MF_CUDA(cudaMemsetAsync(b_.data(), 0, b_.bytes(), stream_));
      launch_gram(ratings_->rows(), n_, b_.data(), stream_);
      launch_add_diagonal(b_.data(), n_, n_, static_cast<float>(added_.reg), stream_,
                          static_cast<float>(added_.share));
    }
    {
      const PhaseScope phase(context.phases, "inverse");
      if (!inverse_->invert(b_.data(), n_, n_)) fail_not_definite("ease", added_.reg);
    }
    const PhaseScope phase(context.phases, "weights");
    MF_CUDA(cudaMemcpy2DAsync(diagonal_.data(), sizeof(float), b_.data(),
                              sizeof(float) * (static_cast<std::size_t>(n_) + 1), sizeof(float),
                              static_cast<std::size_t>(n_), cudaMemcpyDeviceToDevice, stream_));
    launch_weights(b_.data(), diagonal_.data(), n_, stream_);
    return train().nnz();
  }

  const float* device_weights() const override { return b_.data(); }

  Work work_per_epoch() const override { return ease_work(train()); }

 private:
  // By the inverse of a small matrix: libraries load their kernels when they are first called.
  void load_kernels() {
    const std::int64_t n = std::min(n_, 2048);
    MF_CUDA(
        cudaMemsetAsync(b_.data(), 0, sizeof(float) * static_cast<std::size_t>(n * n_), stream_));
    launch_add_diagonal(b_.data(), n_, n, 1, stream_);
    inverse_->invert(b_.data(), n, n_);
  }

  void add_row(std::int64_t j, View<float> scores) const override {
    AlignedVector<float> row(n_);
    cuda::download(View<float>(row), b_.data() + j * n_, stream_);
    add_to(scores, row.data());
  }

  EaseDiagonal added_;
  std::int32_t n_ = 0;
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<cuda::DeviceRatings> ratings_;
  cuda::DeviceBuffer<float> b_;  // 0; X^T X + its regularizer, then -P, then B
  cuda::DeviceBuffer<float> diagonal_;
  std::optional<DeviceInverse> inverse_;
};

const RegisterFactory kEase("ease",
                            [](const Params& params) { return std::make_unique<Ease>(params); });

}  // namespace
}  // namespace mf::baseline
