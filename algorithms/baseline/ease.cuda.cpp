// EASE (ease.hpp) on the device, in fp32. For A = X^T X + reg I, one triangle by a kernel, then
//   A = L L^T,  P = A^-1 = L^-T L^-1
// by cuSOLVER, and by two triangular solves of cuBLAS for a panel of columns of P at a time, which
// take its rows from the diagonal on and replace those columns of L: later ones do not need them.
// n^3 operations: a third for L and a third for each solve.
//
// The evaluator ranks users on the device, where B stays; single users are scored on the host by
// rows of it.
#include <algorithm>

#include "algorithms/baseline/ease.hpp"
#include "algorithms/baseline/ease_kernels.hpp"
#include "algorithms/baseline/item_weights.hpp"
#include "algorithms/core/cuda/library_check.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/registry.hpp"
#include "base/aligned.hpp"

namespace mf::baseline {
namespace {

constexpr auto kLower = CUBLAS_FILL_MODE_LOWER;  // of columns, which are our rows

class Ease : public ItemWeights {
 public:
  explicit Ease(const Params& params) : reg_(params.number("reg")) {}
  ~Ease() override {
    cusolverDnDestroy(solver_);
    cublasDestroy(blas_);
  }
  Ease(const Ease&) = delete;
  Ease& operator=(const Ease&) = delete;

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    ItemWeights::prepare(train, initial, context);
    stream_ = context.stream;
    ratings_ = cuda::ratings_on_device(train, context);
    n_ = train.n_items();
    b_ = cuda::DeviceBuffer<float>(std::int64_t{n_} * n_);
    panel_ = cuda::DeviceBuffer<float>(std::int64_t{n_} * std::min(n_, kPanel));
    ones_ = cuda::upload(View<const float>(AlignedVector<float>(n_, 1)), stream_);
    info_ = cuda::DeviceBuffer<int>(1);
    MF_LIBRARY(cublasCreate(&blas_));
    MF_LIBRARY(cublasSetStream(blas_, stream_));
    MF_LIBRARY(cusolverDnCreate(&solver_));
    MF_LIBRARY(cusolverDnSetStream(solver_, stream_));
    int floats = 0;
    MF_LIBRARY(cusolverDnSpotrf_bufferSize(solver_, kLower, n_, b_.data(), n_, &floats));
    workspace_ = cuda::DeviceBuffer<float>(floats);
    load_kernels();
    MF_CUDA(cudaMemsetAsync(b_.data(), 0, b_.bytes(), stream_));
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    {
      const PhaseScope phase(context.phases, "gram");
      const auto reg = static_cast<float>(reg_);
      MF_CUDA(cudaMemsetAsync(b_.data(), 0, b_.bytes(), stream_));
      launch_gram(ratings_->rows(), n_, b_.data(), stream_);
      MF_LIBRARY(cublasSaxpy(blas_, n_, &reg, ones_.data(), 1, b_.data(), n_ + 1));
    }
    {
      const PhaseScope phase(context.phases, "inverse");
      invert(n_);
    }
    const PhaseScope phase(context.phases, "weights");
    float* diagonal = panel_.data();
    MF_LIBRARY(cublasScopy(blas_, n_, b_.data(), n_ + 1, diagonal, 1));
    launch_weights(b_.data(), diagonal, n_, stream_);
    return train().nnz();
  }

  const float* device_weights() const override { return b_.data(); }

  Work work_per_epoch() const override { return ease_work(train()); }

 private:
  // By the inverse of a small matrix: libraries load their kernels when they are first called.
  void load_kernels() {
    const std::int32_t n = std::min(n_, 512);
    MF_CUDA(cudaMemsetAsync(
        b_.data(), 0, sizeof(float) * static_cast<std::size_t>(std::int64_t{n} * n_), stream_));
    MF_LIBRARY(cublasScopy(blas_, n, ones_.data(), 1, b_.data(), n_ + 1));
    invert(n);
  }

  // The first n rows and columns, which end in their place.
  void invert(std::int32_t n) {
    MF_LIBRARY(cusolverDnSpotrf(solver_, kLower, n, b_.data(), n_, workspace_.data(),
                                static_cast<int>(workspace_.size()), info_.data()));
    int failed = 0;
    cuda::download(View<int>(&failed, 1), info_.data(), stream_);
    if (failed != 0) fail_not_definite("ease", reg_);
    for (std::int32_t first = 0; first < n; first += kPanel) invert_panel(first, n - first);
  }

  void invert_panel(std::int32_t first, std::int32_t rows) {
    const std::int32_t columns = std::min(rows, kPanel);
    float* from = b_.data() + first * (std::int64_t{n_} + 1);
    const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(rows);
    MF_CUDA(cudaMemsetAsync(panel_.data(), 0, bytes * static_cast<std::size_t>(columns), stream_));
    MF_LIBRARY(cublasScopy(blas_, columns, ones_.data(), 1, panel_.data(), rows + 1));
    const float one = 1;
    for (const auto transposed : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      MF_LIBRARY(cublasStrsm(blas_, CUBLAS_SIDE_LEFT, kLower, transposed, CUBLAS_DIAG_NON_UNIT,
                             rows, columns, &one, from, n_, panel_.data(), rows));
    }
    MF_CUDA(cudaMemcpy2DAsync(from, sizeof(float) * static_cast<std::size_t>(n_), panel_.data(),
                              bytes, bytes, static_cast<std::size_t>(columns),
                              cudaMemcpyDeviceToDevice, stream_));
  }

  void add_row(std::int64_t j, View<float> scores) const override {
    AlignedVector<float> row(n_);
    cuda::download(View<float>(row), b_.data() + j * n_, stream_);
    add_to(scores, row.data());
  }

  double reg_;
  std::int32_t n_ = 0;
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<cuda::DeviceRatings> ratings_;
  cuda::DeviceBuffer<float> b_;  // 0; A, then L, then P, then B
  cuda::DeviceBuffer<float> panel_, ones_, workspace_;
  cuda::DeviceBuffer<int> info_;
  cublasHandle_t blas_ = nullptr;
  cusolverDnHandle_t solver_ = nullptr;
};

const RegisterFactory kEase("ease",
                            [](const Params& params) { return std::make_unique<Ease>(params); });

}  // namespace
}  // namespace mf::baseline
