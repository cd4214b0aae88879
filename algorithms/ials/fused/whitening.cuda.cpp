#include "algorithms/ials/fused/whitening.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/core/cuda/library_check.hpp"
#include "algorithms/ials/fused/whitening_bytes.hpp"
#include "algorithms/ials/fused/whitening_kernels.hpp"

namespace mf::ials {
namespace {

constexpr std::int64_t kFewestRows = 128;  // of a chunk

struct Chunks {
  std::int64_t rows;   // of each
  std::int64_t whole;  // chunks of that many
  std::int64_t rest;   // rows of one more
};

Chunks chunks_of(std::int64_t count) {
  const std::int64_t rows = std::max(kFewestRows, (count + kMostGramChunks - 1) / kMostGramChunks);
  return {rows, count / rows, count % rows};
}

}  // namespace

double white_scale(std::int64_t rows) {
  return std::exp2(std::floor(std::log2(static_cast<double>(std::max<std::int64_t>(1, rows))) / 2));
}

void Whitening::Destroy::operator()(cublasContext* handle) const { cublasDestroy(handle); }
void Whitening::Destroy::operator()(cusolverDnContext* handle) const { cusolverDnDestroy(handle); }

Whitening::Whitening(std::int32_t factors, std::int64_t stride, std::int64_t most_rows, double reg,
                     bool fast_start, cudaStream_t stream)
    : factors_(factors),
      stride_(stride),
      reg_(reg),
      fast_start_(fast_start),
      stream_(stream),
      info_(1),
      failed_(1) {
  const std::int64_t square = std::int64_t{factors} * factors;
  parts_ = cuda::DeviceBuffer<float>(
      square * std::min(kMostGramChunks + 1, (most_rows + kFewestRows - 1) / kFewestRows + 1));
  gram_ = cuda::DeviceBuffer<double>(square);
  inverse_ = cuda::DeviceBuffer<double>(square);
  start_ = cuda::DeviceBuffer<float>(square);
  t_ = cuda::DeviceBuffer<float>(square);
  MF_CUDA(cudaMemsetAsync(failed_.data(), 0, failed_.bytes(), stream));
  cublasHandle_t blas = nullptr;
  MF_LIBRARY(cublasCreate(&blas));
  blas_.reset(blas);
  MF_LIBRARY(cublasSetStream(blas, stream));
  cusolverDnHandle_t solver = nullptr;
  MF_LIBRARY(cusolverDnCreate(&solver));
  solver_.reset(solver);
  MF_LIBRARY(cusolverDnSetStream(solver, stream));
  int doubles = 0;
  MF_LIBRARY(cusolverDnDpotrf_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, factors, gram_.data(),
                                         factors, &doubles));
  workspace_ = cuda::DeviceBuffer<double>(std::max(1, doubles));
}

// cuBLAS takes columns: the rows of Theta are the columns of a factors x count matrix.
void Whitening::form_gram(const float* theta, std::int64_t count) {
  const Chunks chunks = chunks_of(count);
  const std::int64_t square = std::int64_t{factors_} * factors_;
  const auto lead = static_cast<int>(stride_);
  const float one = 1;
  const float zero = 0;
  if (chunks.whole > 0) {
    MF_LIBRARY(cublasSgemmStridedBatched(
        blas_.get(), CUBLAS_OP_N, CUBLAS_OP_T, factors_, factors_, static_cast<int>(chunks.rows),
        &one, theta, lead, chunks.rows * stride_, theta, lead, chunks.rows * stride_, &zero,
        parts_.data(), factors_, square, static_cast<int>(chunks.whole)));
  }
  if (chunks.rest > 0) {
    const float* last = theta + chunks.whole * chunks.rows * stride_;
    MF_LIBRARY(cublasSgemm(blas_.get(), CUBLAS_OP_N, CUBLAS_OP_T, factors_, factors_,
                           static_cast<int>(chunks.rest), &one, last, lead, last, lead, &zero,
                           parts_.data() + chunks.whole * square, factors_));
  }
  const bool adds_reg = devices_ == nullptr || devices_->rank() == 0;
  launch_sum_gram(parts_.data(), chunks.whole + (chunks.rest > 0 ? 1 : 0), factors_,
                  adds_reg ? reg_ : 0, gram_.data(), inverse_.data(), stream_);
  if (devices_ != nullptr) devices_->all_sum(gram_.data(), square, stream_);
}

void Whitening::factorize(const float* theta, std::int64_t count, std::int64_t all_rows,
                          double unit) {
  form_gram(theta, count);
  MF_LIBRARY(cusolverDnDpotrf(solver_.get(), CUBLAS_FILL_MODE_LOWER, factors_, gram_.data(),
                              factors_, workspace_.data(), static_cast<int>(workspace_.size()),
                              info_.data()));
  const double scale = white_scale(all_rows);
  MF_LIBRARY(cublasDtrsm(blas_.get(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                         CUBLAS_DIAG_NON_UNIT, factors_, factors_, &scale, gram_.data(), factors_,
                         inverse_.data(), factors_));
  launch_round_factors(gram_.data(), inverse_.data(), 1 / (scale * unit), factors_, info_.data(),
                       start_.data(), t_.data(), failed_.data(), stream_);
  unit_ = static_cast<float>(unit);
}

void Whitening::multiply(bool transposed, const float* matrix, float factor, const float* from,
                         std::int64_t count, float* to, bool fast) {
  if (count == 0) return;
  const auto lead = static_cast<int>(stride_);
  const float zero = 0;
  MF_LIBRARY(cublasGemmEx(blas_.get(), transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N,
                          factors_, static_cast<int>(count), factors_, &factor, matrix, CUDA_R_32F,
                          factors_, from, CUDA_R_32F, lead, &zero, to, CUDA_R_32F, lead,
                          fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                          CUBLAS_GEMM_DEFAULT));
}

void Whitening::whiten(const float* theta, std::int64_t count, float* to) {
  multiply(false, t_.data(), 1, theta, count, to, false);
}

// z = T^-T x / unit = L^T x / (s unit)
void Whitening::start(const float* x, std::int64_t count, float* z) {
  multiply(true, start_.data(), 1, x, count, z, fast_start_);
}

void Whitening::finish(const float* z, std::int64_t count, float* x) {
  multiply(true, t_.data(), unit_, z, count, x, false);
}

void Whitening::check() const {
  int failed = 0;
  MF_CUDA(
      cudaMemcpyAsync(&failed, failed_.data(), sizeof(failed), cudaMemcpyDeviceToHost, stream_));
  MF_CUDA(cudaStreamSynchronize(stream_));
  if (failed == 0) return;
  fail(ErrorKind::data,
       "ials_fused: found a Gram matrix + reg I that is not positive definite (minor {}); expected "
       "reg {} to be well above its rounding; raise reg, or use ials",
       failed, reg_);
}

}  // namespace mf::ials
