#include "algorithms/sgd_tiled/test/round_kernel.hpp"

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/ratings/row_words.cuh"

namespace mf::sgd_tiled {
namespace {

__global__ void round_kernel(const float* x, std::uint32_t* out, int n, bool stochastic,
                             bool bf16) {
  cuda::Rounder rounder{12345, stochastic};
  for (int i = 0; i < n; ++i) {
    const float two[2] = {x[i], x[i]};
    rounder.expect(x[i]);
    out[i] = bf16 ? cuda::Unit<__nv_bfloat16>::pack(two, rounder)
                  : cuda::Unit<__half>::pack(two, rounder);
  }
}

}  // namespace

void launch_round(const float* x, std::uint32_t* out, int n, bool stochastic, bool bf16,
                  cudaStream_t stream) {
  round_kernel<<<1, 1, 0, stream>>>(x, out, n, stochastic, bf16);
  MF_CUDA_LAUNCHED("round_kernel");
}

}  // namespace mf::sgd_tiled
