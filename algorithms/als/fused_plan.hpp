// How als_fused cuts the rows of a half-step into tasks for thread blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/host_device.hpp"

namespace mf::als {

// Ratings [begin, begin + count) of a row. The parts of a split row are equal but for one rating;
// part k keeps its sums in scratch slot first_slot + k.
struct FusedTask {
  std::int64_t begin = 0;
  std::int32_t count = 0;
  std::int32_t row = 0;
  std::int32_t row_count = 0;  // ratings of the whole row
  std::int32_t part = 0;
  std::int32_t parts = 1;
  std::int32_t first_slot = 0;  // of a split row
};
static_assert(sizeof(FusedTask) == 32, "kernels read it as two 16-byte words");

struct FusedPlan {
  std::vector<FusedTask> tasks;  // the longest first; also rows without ratings
  std::int32_t slots = 0;        // of all split rows
};

// offsets: rows + 1. A row of more than `longest` ratings is split.
FusedPlan plan_fused(std::span<const std::int64_t> offsets, std::int64_t longest);

// The task that block `block` of `blocks` takes in turn `turn`: back and forth over the sorted
// tasks, so that the sums of the blocks are nearly equal. May lie past the last task.
MF_HD std::int64_t snake(std::int64_t turn, std::int64_t block, std::int64_t blocks) {
  return turn * blocks + (turn % 2 == 0 ? block : blocks - 1 - block);
}

// A_u lies in 16 x 16 blocks, lower half, over the registers of W = ceil(tiles / 2) warps: warp
// `role` has the block rows `role` and tiles - 1 - role, tiles + 1 blocks together (one block row
// where the two are the same). The kernel is compiled for a few numbers of tiles.
constexpr int kFusedTile = 16;
constexpr int kFusedTileCounts[] = {2, 4, 7, 8, 12, 16};
constexpr int fused_warps(int tiles) { return (tiles + 1) / 2; }

// Block rows for that many factors, at most 256.
constexpr int fused_tiles(int factors) {
  for (const int tiles : kFusedTileCounts) {
    if (factors <= tiles * kFusedTile) return tiles;
  }
  return 0;
}

// fp16 words from one row to the next.
constexpr std::int64_t fused_stride(int factors) { return fused_tiles(factors) * kFusedTile; }

// Accumulators of a thread: what it leaves in the scratch memory for a part of a split row.
constexpr int fused_slot_floats_of_thread(int tiles) { return (tiles + 1) * 8 + 8; }

}  // namespace mf::als
