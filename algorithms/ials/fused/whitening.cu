#include "algorithms/ials/fused/whitening.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/library_check.hpp"
#include "algorithms/ials/fused/gram_chunks.hpp"

namespace mf::ials {
namespace {

// ---- small kernels: f x f matrices by columns ----

// A Gram matrix: the chunks' matrices, and rows outside of them, `stride` floats apart.
struct GramParts {
  const float* sums;
  std::int64_t count;
  const float* rows;
  std::int64_t rest;
  std::int64_t stride;
};

constexpr int kThreads = 128;

// A tile of the Gram matrix a block, a share of the parts and of the rest's rows each layer of
// threads.
constexpr int kTileRows = 32, kTileColumns = 8, kLayers = 4;

// The parts of element (i, j) that belong to the layer.
__device__ double sum_of_parts(const GramParts& parts, std::int32_t factors, std::int64_t i,
                               std::int64_t j, int layer) {
  const std::int64_t size = std::int64_t{factors} * factors;
  double sum = 0;
  for (std::int64_t part = layer; part < parts.count; part += kLayers) {
    sum += static_cast<double>(parts.sums[part * size + j * factors + i]);
  }
  float products = 0;
  for (std::int64_t row = layer; row < parts.rest; row += kLayers) {
    const float* theta = parts.rows + row * parts.stride;
    products = fmaf(theta[i], theta[j], products);
  }
  return sum + static_cast<double>(products);
}

__global__ void __launch_bounds__(kTileRows* kTileColumns* kLayers)
    sum_gram_kernel(GramParts parts, std::int32_t factors, double reg, double* gram,
                    double* inverse) {
  __shared__ double sums[kLayers][kTileColumns][kTileRows];
  const std::int64_t i = std::int64_t{blockIdx.x} * kTileRows + threadIdx.x;
  const std::int64_t j = std::int64_t{blockIdx.y} * kTileColumns + threadIdx.y;
  const int layer = static_cast<int>(threadIdx.z);
  const bool inside = i < factors && j < factors;
  sums[layer][threadIdx.y][threadIdx.x] = inside ? sum_of_parts(parts, factors, i, j, layer) : 0.0;
  __syncthreads();
  if (layer != 0 || !inside) return;
  double sum = i == j ? reg : 0.0;
  for (int k = 0; k < kLayers; ++k) sum += sums[k][threadIdx.y][threadIdx.x];
  gram[j * factors + i] = sum;
  inverse[j * factors + i] = i == j ? 1.0 : 0.0;
}

__global__ void __launch_bounds__(kThreads)
    round_factors_kernel(const double* l, const double* t, double start_scale, std::int32_t factors,
                         const int* info, float* start, float* to, int* failed) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i == 0 && *info != 0) *failed = *info;
  if (i >= std::int64_t{factors} * factors) return;
  const bool lower = i % factors >= i / factors;
  start[i] = lower ? static_cast<float>(start_scale * l[i]) : 0.0F;
  to[i] = lower ? static_cast<float>(t[i]) : 0.0F;
}

// gram = the sum of it all, and reg on the diagonal; inverse = I. 4 f^2 bytes a part read.
void launch_sum_gram(const GramParts& parts, std::int32_t factors, double reg, double* gram,
                     double* inverse, cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for(factors, kTileRows), cuda::blocks_for(factors, kTileColumns));
  sum_gram_kernel<<<blocks, dim3(kTileRows, kTileColumns, kLayers), 0, stream>>>(
      parts, factors, reg, gram, inverse);
  MF_CUDA_LAUNCHED("sum_gram_kernel");
}

// For lower triangles: start = start_scale L, t = T, zero above the diagonal. *failed = *info if
// that is not zero.
void launch_round_factors(const double* l, const double* t, double start_scale,
                          std::int32_t factors, const int* info, float* start, float* to,
                          int* failed, cudaStream_t stream) {
  const unsigned blocks = cuda::blocks_for(std::int64_t{factors} * factors, kThreads);
  round_factors_kernel<<<blocks, kThreads, 0, stream>>>(l, t, start_scale, factors, info, start, to,
                                                        failed);
  MF_CUDA_LAUNCHED("round_factors_kernel");
}

}  // namespace

double white_scale(std::int64_t rows) {
  return std::exp2(std::floor(std::log2(static_cast<double>(std::max<std::int64_t>(1, rows))) / 2));
}

void Whitening::Destroy::operator()(cublasContext* handle) const { cublasDestroy(handle); }
void Whitening::Destroy::operator()(cusolverDnContext* handle) const { cusolverDnDestroy(handle); }

Whitening::Whitening(std::int32_t factors, std::int64_t stride, std::int64_t most_rows, double reg,
                     bool fast_start, cudaStream_t stream)
    : factors_(factors), stride_(stride), reg_(reg), stream_(stream), info_(1), failed_(1) {
  const std::int64_t square = std::int64_t{factors} * factors;
  parts_ = cuda::DeviceBuffer<float>(square * most_gram_chunks(most_rows));
  gram_ = cuda::DeviceBuffer<double>(square);
  inverse_ = cuda::DeviceBuffer<double>(square);
  start_ = cuda::DeviceBuffer<float>(square);
  t_ = cuda::DeviceBuffer<float>(square);
  MF_CUDA(cudaMemsetAsync(failed_.data(), 0, failed_.bytes(), stream));
  cublasHandle_t blas = nullptr;
  MF_LIBRARY(cublasCreate(&blas));
  blas_.reset(blas);
  MF_LIBRARY(cublasSetStream(blas, stream));
  by_t_ = RowProduct(blas, false, factors, stride, false, stream);
  by_start_ = RowProduct(blas, true, factors, stride, fast_start, stream);
  by_t_transposed_ = RowProduct(blas, true, factors, stride, false, stream);
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
  const GramChunks chunks = gram_chunks(count);
  const std::int64_t square = std::int64_t{factors_} * factors_;
  const auto lead = static_cast<int>(stride_);
  const float one = 1;
  const float zero = 0;
  if (chunks.count > 0) {
    const std::int64_t step = chunks.rows * stride_;
    MF_LIBRARY(cublasSgemmStridedBatched(blas_.get(), CUBLAS_OP_N, CUBLAS_OP_T, factors_, factors_,
                                         static_cast<int>(chunks.rows), &one, theta, lead, step,
                                         theta, lead, step, &zero, parts_.data(), factors_, square,
                                         static_cast<int>(chunks.count)));
  }
  const GramParts parts = {parts_.data(), chunks.count,
                           theta + chunks.count * chunks.rows * stride_, chunks.rest, stride_};
  const bool adds_reg = devices_ == nullptr || devices_->rank() == 0;
  launch_sum_gram(parts, factors_, adds_reg ? reg_ : 0, gram_.data(), inverse_.data(), stream_);
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

void Whitening::whiten(const float* theta, std::int64_t count, float* to) {
  by_t_.run(t_.data(), 1, theta, count, to);
}

// z = T^-T x / unit = L^T x / (s unit)
void Whitening::start(const float* x, std::int64_t count, float* z) {
  by_start_.run(start_.data(), 1, x, count, z);
}

void Whitening::finish(const float* z, std::int64_t count, float* x) {
  by_t_transposed_.run(t_.data(), unit_, z, count, x);
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
