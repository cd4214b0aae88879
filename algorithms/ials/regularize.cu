// The post's l2_regularize_kernel: a thread an element of the diagonal.
#include <cuda_runtime.h>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/ials/device_gram.hpp"

namespace mf::ials {
namespace {

constexpr int kThreads = 256;

__global__ void l2_regularize_kernel(float* gram, std::int64_t pitch, int factors, float reg) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < factors) gram[i * pitch + i] += reg;
}

}  // namespace

void launch_regularize(float* gram, std::int64_t pitch, std::int32_t factors, float reg,
                       cudaStream_t stream) {
  l2_regularize_kernel<<<cuda::blocks_for(factors, kThreads), kThreads, 0, stream>>>(gram, pitch,
                                                                                     factors, reg);
  MF_CUDA_LAUNCHED("ials l2_regularize");
}

}  // namespace mf::ials
