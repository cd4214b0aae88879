#include "algorithms/cu2rec/test/draw_kernel.hpp"

#include <curand_kernel.h>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::cu2rec {
namespace {

__global__ void draw_kernel(curandStateXORWOW* states, std::uint32_t* out, int n, int draws) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  for (int k = 0; k < draws; ++k) out[i * draws + k] = curand(states + i);
}

}  // namespace

void launch_draws(curandStateXORWOW* states, std::uint32_t* out, int n, int draws,
                  cudaStream_t stream) {
  draw_kernel<<<cuda::blocks_for(n, 128), 128, 0, stream>>>(states, out, n, draws);
  MF_CUDA_LAUNCHED("draw_kernel");
}

}  // namespace mf::cu2rec
