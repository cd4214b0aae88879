#include "algorithms/cu2rec/bench/draws.hpp"

#include <curand_kernel.h>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/random.hpp"

namespace mf::cu2rec {
namespace {

constexpr unsigned kThreads = 128;

__global__ void curand_kernel(curandStateXORWOW* states, std::uint32_t* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  curandStateXORWOW state = states[i];
  out[i] = curand(&state);
  states[i] = state;
}

__global__ void counter_kernel(std::uint64_t seed, std::int64_t iteration, std::uint32_t* out,
                               int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = random_bits(seed, i, iteration);
}

}  // namespace

void launch_curand_draws(curandStateXORWOW* states, std::uint32_t* out, int n,
                         cudaStream_t stream) {
  curand_kernel<<<cuda::blocks_for(n, kThreads), kThreads, 0, stream>>>(states, out, n);
  MF_CUDA_LAUNCHED("curand draws");
}

void launch_counter_draws(std::uint64_t seed, std::int64_t iteration, std::uint32_t* out, int n,
                          cudaStream_t stream) {
  counter_kernel<<<cuda::blocks_for(n, kThreads), kThreads, 0, stream>>>(seed, iteration, out, n);
  MF_CUDA_LAUNCHED("counter draws");
}

}  // namespace mf::cu2rec
