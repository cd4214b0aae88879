#include "algorithms/als/bench/fill.hpp"

#include "algorithms/core/cuda/check.hpp"

namespace mf::als {
namespace {

__global__ void fill_kernel(float* to, std::int64_t count) {
  const std::int64_t every = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += every) {
    to[i] = static_cast<float>((i * 2654435761LL >> 8) & 0xffff) / 65536.0F;
  }
}

}  // namespace

void launch_fill(float* to, std::int64_t count, cudaStream_t stream) {
  fill_kernel<<<1024, 256, 0, stream>>>(to, count);
  MF_CUDA_LAUNCHED("fill");
}

}  // namespace mf::als
