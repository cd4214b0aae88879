// Instantiates the kernel for the numbers of tiles. One word and two are compiled apart:
// fused_solve_{one_word,two_words}.cu.
#pragma once

#include "algorithms/als/fused_kernel.cuh"
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

template <bool TwoWords>
void launch_words(const FusedRule& rule, const FusedSide& side, cudaStream_t stream) {
  switch (fused_tiles(rule.factors)) {
    case 2:
      return launch_tiles<2, TwoWords>(rule, side, stream);
    case 4:
      return launch_tiles<4, TwoWords>(rule, side, stream);
    case 7:
      return launch_tiles<7, TwoWords>(rule, side, stream);
    case 8:
      return launch_tiles<8, TwoWords>(rule, side, stream);
    case 12:
      return launch_tiles<12, TwoWords>(rule, side, stream);
    default:
      return launch_tiles<16, TwoWords>(rule, side, stream);
  }
}

void solve_one_word(const FusedRule& rule, const FusedSide& side, cudaStream_t stream);
void solve_two_words(const FusedRule& rule, const FusedSide& side, cudaStream_t stream);

}  // namespace mf::als
