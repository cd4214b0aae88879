#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/ials/fused/whitening_kernels.hpp"

namespace mf::ials {
namespace {

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

}  // namespace

void launch_sum_gram(const GramParts& parts, std::int32_t factors, double reg, double* gram,
                     double* inverse, cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for(factors, kTileRows), cuda::blocks_for(factors, kTileColumns));
  sum_gram_kernel<<<blocks, dim3(kTileRows, kTileColumns, kLayers), 0, stream>>>(
      parts, factors, reg, gram, inverse);
  MF_CUDA_LAUNCHED("sum_gram_kernel");
}

void launch_round_factors(const double* l, const double* t, double start_scale,
                          std::int32_t factors, const int* info, float* start, float* to,
                          int* failed, cudaStream_t stream) {
  const unsigned blocks = cuda::blocks_for(std::int64_t{factors} * factors, kThreads);
  round_factors_kernel<<<blocks, kThreads, 0, stream>>>(l, t, start_scale, factors, info, start, to,
                                                        failed);
  MF_CUDA_LAUNCHED("round_factors_kernel");
}

}  // namespace mf::ials
