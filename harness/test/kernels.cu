#include "harness/test/kernels.hpp"

#include <stdexcept>

#include "algorithms/core/cuda/check.hpp"
#include "harness/evaluate/device/reduction.cuh"

namespace mf {
namespace {

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin(std::uint64_t ns) {
  const std::uint64_t start = nanoseconds();
  while (nanoseconds() - start < ns) {
  }
}

template <int kBlock>
void sum(const float* errors, std::int64_t count, LossSums* partial, cudaStream_t stream) {
  sum_errors<kBlock><<<kReductionBlocks<kBlock>, kBlock, 0, stream>>>(errors, count, partial);
  MF_CUDA_LAUNCHED("sum_errors");
}

}  // namespace

void launch_spin(std::uint64_t ns, cudaStream_t stream) {
  spin<<<1, 1, 0, stream>>>(ns);
  MF_CUDA_LAUNCHED("spin");
}

int reduction_blocks(int block) { return kReductionThreads / block; }

void launch_sum_errors(int block, const float* errors, std::int64_t count, LossSums* partial,
                       cudaStream_t stream) {
  switch (block) {
    case 32:
      return sum<32>(errors, count, partial, stream);
    case 64:
      return sum<64>(errors, count, partial, stream);
    case 128:
      return sum<128>(errors, count, partial, stream);
    case 256:
      return sum<256>(errors, count, partial, stream);
    case 512:
      return sum<512>(errors, count, partial, stream);
    case 1024:
      return sum<1024>(errors, count, partial, stream);
    default:
      throw std::invalid_argument("no reduction for blocks of this size");
  }
}

}  // namespace mf
