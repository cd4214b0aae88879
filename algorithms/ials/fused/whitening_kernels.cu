#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/ials/fused/whitening_kernels.hpp"

namespace mf::ials {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    sum_gram_kernel(const float* parts, std::int64_t count, std::int32_t factors, double reg,
                    double* gram, double* inverse) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t size = std::int64_t{factors} * factors;
  if (i >= size) return;
  const bool diagonal = i % factors == i / factors;
  double sum = diagonal ? reg : 0.0;
  for (std::int64_t part = 0; part < count; ++part) {
    sum += static_cast<double>(parts[part * size + i]);
  }
  gram[i] = sum;
  inverse[i] = diagonal ? 1.0 : 0.0;
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

unsigned blocks(std::int32_t factors) {
  return cuda::blocks_for(std::int64_t{factors} * factors, kThreads);
}

}  // namespace

void launch_sum_gram(const float* parts, std::int64_t count, std::int32_t factors, double reg,
                     double* gram, double* inverse, cudaStream_t stream) {
  sum_gram_kernel<<<blocks(factors), kThreads, 0, stream>>>(parts, count, factors, reg, gram,
                                                            inverse);
  MF_CUDA_LAUNCHED("sum_gram_kernel");
}

void launch_round_factors(const double* l, const double* t, double start_scale,
                          std::int32_t factors, const int* info, float* start, float* to,
                          int* failed, cudaStream_t stream) {
  round_factors_kernel<<<blocks(factors), kThreads, 0, stream>>>(l, t, start_scale, factors, info,
                                                                 start, to, failed);
  MF_CUDA_LAUNCHED("round_factors_kernel");
}

}  // namespace mf::ials
