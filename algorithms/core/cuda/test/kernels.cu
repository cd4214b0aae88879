#include "algorithms/core/cuda/test/kernels.hpp"

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::cuda {
namespace {

constexpr unsigned kThreads = 128;

__global__ void add_one(int* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) ++x[i];
}

__global__ void draw_kernel(std::uint64_t seed, std::int64_t iteration, std::int64_t* out,
                            std::int32_t n, Permutation permutation) {
  const auto i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  out[2 * i] = pick(random_bits(seed, i, iteration), 12345);
  out[2 * i + 1] = permutation(i);
}

}  // namespace

void launch_add_one(int* x, int n, cudaStream_t stream) {
  add_one<<<blocks_for(n, kThreads), kThreads, 0, stream>>>(x, n);
  MF_CUDA_LAUNCHED("add_one");
}

void launch_draws(std::uint64_t seed, std::int64_t iteration, std::int64_t* out, std::int32_t n,
                  Permutation permutation, cudaStream_t stream) {
  draw_kernel<<<blocks_for(n, kThreads), kThreads, 0, stream>>>(seed, iteration, out, n,
                                                                permutation);
  MF_CUDA_LAUNCHED("draw_kernel");
}

}  // namespace mf::cuda
