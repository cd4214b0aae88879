// Block rows of the kernels that ials_fused launches: als_fused's if all weights are equal, else
// its own instantiations, of which there are fewer.
#pragma once

#include <cstdint>

#include "algorithms/als/fused/layout.hpp"

namespace mf::ials {

inline constexpr int kWeightedTileCounts[] = {2, 4, 8, 12, 16};

// For at most als::kMostFormedFactors. Rows of 7 block rows lie in memory as rows of 8 do.
constexpr int kernel_tiles(bool uniform, int factors) {
  const int tiles = als::fused_tiles(factors);
  return !uniform && tiles == 7 ? 8 : tiles;
}
static_assert(als::fused_stride_of_tiles(7) == als::fused_stride_of_tiles(8));

// Floats that one part of a split row leaves in the scratch memory.
constexpr std::int64_t slot_floats(bool uniform, als::FusedPrecision precision, int factors) {
  const int tiles = kernel_tiles(uniform, factors);
  const int warps = als::fused_warps(tiles, precision == als::FusedPrecision::fp16x2);
  return std::int64_t{als::fused_slot_floats_of_thread(tiles, warps)} * 32 * warps;
}

}  // namespace mf::ials
