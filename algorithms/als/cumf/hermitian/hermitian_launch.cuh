// Instantiated by each hermitian_load.cu.in and by hermitian_weighted.cu: the kernel with one load,
// for all layouts.
#pragma once

#include <algorithm>

#include "algorithms/als/cumf/hermitian/hermitian.cuh"
#include "algorithms/core/cuda/check.hpp"

namespace mf::als {

template <class L, Load kLoad, bool kWeighted>
void launch_layout(const HermitianArgs& args, HermitianPart part, cudaStream_t stream) {
  constexpr std::size_t kBytes = sizeof(float) * L::kShared;
  static_assert(kBytes <= 48 << 10);
  constexpr std::int64_t kMostBlocks = 0x7fffffff;
  HermitianArgs some = args;
  for (std::int64_t first = 0; first < args.n_tasks; first += kMostBlocks) {
    some.tasks = args.tasks + first;
    const auto blocks = static_cast<unsigned>(std::min(args.n_tasks - first, kMostBlocks));
    hermitian_kernel<L, kLoad, kWeighted><<<blocks, L::kThreads, kBytes, stream>>>(some, part);
    MF_CUDA_LAUNCHED("als get_hermitian");
  }
}

template <Load kLoad, bool kWeighted>
void launch_layouts(const HermitianArgs& args, HermitianPart part, cudaStream_t stream) {
  with_layout(args.factors, [&](auto layout) {
    launch_layout<decltype(layout), kLoad, kWeighted>(args, part, stream);
  });
}

template <Load kLoad>
void launch_load(const HermitianArgs& args, HermitianPart part, cudaStream_t stream) {
  launch_layouts<kLoad, false>(args, part, stream);
}

}  // namespace mf::als
