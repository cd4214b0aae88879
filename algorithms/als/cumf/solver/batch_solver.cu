// Common code of the solvers: pointers to the systems of a batch, their solutions to the rows of x,
// rows without ratings. Only copies: a warp a row of 4 f bytes, a lane 16-byte words.
#include "algorithms/als/cumf/solver/batch_solver.hpp"

#include <cuda_runtime.h>

#include "algorithms/core/cuda/launch.hpp"

namespace mf::als {
namespace {

constexpr int kThreads = 256;

__global__ void pointers_kernel(float** to, float* base, std::int64_t stride, std::int64_t count) {
  const std::int64_t s = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (s < count) to[s] = base + s * stride;
}

// A warp a row.
__global__ void __launch_bounds__(kThreads)
    scatter_kernel(float* x, const float* b, std::int64_t stride, const std::int32_t* rows,
                   const int* info, std::int64_t count) {
  const std::int64_t s = std::int64_t{blockIdx.x} * (kThreads / 32) + (threadIdx.x >> 5);
  if (s >= count) return;
  auto* to = reinterpret_cast<float4*>(x + rows[s] * stride);
  const auto* from = reinterpret_cast<const float4*>(b + s * stride);
  const float bad = __int_as_float(0x7fffffff);
  const bool solved = info[s] == 0;
  for (int word = static_cast<int>(threadIdx.x) & 31; word < stride / 4; word += 32) {
    to[word] = solved ? from[word] : float4{bad, bad, bad, bad};
  }
}

// One to each of `count` vectors from `base` on, `stride` apart.
cuda::DeviceBuffer<float*> pointers(float* base, std::int64_t stride, std::int64_t count,
                                    cudaStream_t stream) {
  cuda::DeviceBuffer<float*> to(count);
  if (count == 0) return to;
  pointers_kernel<<<cuda::blocks_for(count, kThreads), kThreads, 0, stream>>>(to.data(), base,
                                                                              stride, count);
  MF_CUDA_LAUNCHED("als pointers");
  return to;
}

}  // namespace

SystemPointers::SystemPointers(std::int32_t factors, std::int64_t capacity, float* first_a,
                               float* first_b, cudaStream_t stream)
    : a(pointers(first_a, a_values(AStorage::fp32, factors), capacity, stream)),
      b(pointers(first_b, row_stride(factors, sizeof(float)), capacity, stream)) {}

void launch_scatter(const Systems& systems, const int* info, cudaStream_t stream) {
  if (systems.count == 0) return;
  scatter_kernel<<<cuda::blocks_for(systems.count, kThreads / 32), kThreads, 0, stream>>>(
      systems.x, systems.b, row_stride(systems.factors, sizeof(float)), systems.rows, info,
      systems.count);
  MF_CUDA_LAUNCHED("als scatter");
}

}  // namespace mf::als
