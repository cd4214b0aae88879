// Instantiated by each kernel.cu.in, of als_fused and of ials_fused.
#pragma once

#include "algorithms/als/fused/kernel.cuh"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::als {

template <class Shape>
void launch_kernel(const FusedRule& rule, const FusedSide& side, cudaStream_t stream) {
  constexpr int kBytes = static_cast<int>(sizeof(FusedShared<Shape>));
  const auto kernel = fused_kernel<Shape>;
  MF_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  if (side.n_tasks == 0) return;
  const unsigned grid =
      cuda::blocks_for(side.n_tasks, 1, cuda::resident_blocks(kernel, Shape::kThreads, kBytes));
  MF_CUDA(cudaMemsetAsync(side.next, 0, sizeof(*side.next), stream));
  kernel<<<grid, Shape::kThreads, kBytes, stream>>>(side, rule);
  MF_CUDA_LAUNCHED("fused_kernel");
}

template <int Tiles, bool TwoWords>
void launch_tiles(const FusedRule& rule, const FusedSide& side, cudaStream_t stream) {
  const bool free = rule.factors <= Tiles * kFusedTile - 8;
  free ? launch_kernel<FusedShape<Tiles, TwoWords, true>>(rule, side, stream)
       : launch_kernel<FusedShape<Tiles, TwoWords, false>>(rule, side, stream);
}

template <int Tiles, bool TwoWords>
void launch_weighted_tiles(const FusedRule& rule, const FusedSide& side, cudaStream_t stream) {
  launch_kernel<FusedShape<Tiles, TwoWords, false, true>>(rule, side, stream);
}

}  // namespace mf::als
