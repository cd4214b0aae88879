// Arguments of als_fused's kernel and the layout of A in registers: for the host, too. Light:
// kernels include it.
#pragma once

#include <cstdint>

#include "algorithms/core/ranks/row_parts.hpp"

namespace mf::als {

// How the gathered rows enter the tensor cores: one fp16 word a factor, or the sum of two.
enum class FusedPrecision { fp16, fp16x2 };

// How A_u comes into CG: formed; applied, for rows that fit in shared memory (applied.hpp); or, for
// each length of a row, the faster by estimate.
enum class FusedNormal { automatic, formed, applied };

// A is formed by matrix products of four warps (wgmma, group.hpp) if the device has them, else by
// matrix products of one warp (mma.sync).
enum class FusedProducts { automatic, warp };

// The sums of part k of a split row are kept in scratch slot first_slot + k; the row is shrunk by
// row_reg() of row_count.
using FusedTask = RowPart;

// A_u lies in 16 x 16 blocks, lower half, over the registers of the warps of a thread block: each
// warp has some of the block rows. The kernel is compiled for a few numbers of block rows.
constexpr int kFusedTile = 16;
constexpr int kFusedTileCounts[] = {2, 4, 7, 8, 12, 16};

// A of more factors does not fit the registers: all rows are applied.
constexpr int kMostFormedFactors = 256;

// Block rows for that many factors; 0 if A is not formed.
constexpr int fused_tiles(int factors) {
  for (const int tiles : kFusedTileCounts) {
    if (factors <= tiles * kFusedTile) return tiles;
  }
  return 0;
}

// Warps of a thread block: as few as hold A in their registers, since each reads its block rows and
// block columns for itself. A power of two. (Two words need registers for twice the operands.)
constexpr int fused_warps(int tiles, bool two_words) {
  const int warps = tiles <= 4 ? 1 : tiles <= 8 ? 2 : tiles <= 12 ? 4 : 8;
  return two_words && warps < 8 ? 2 * warps : warps;
}

// Thread blocks whose registers a multiprocessor must hold: it has 65,536, 168 each for 12 warps,
// 255 for 8. (Shared memory may allow fewer: 16 to 17 of 20 for 2 tiles, 10 of 12 for 4.)
constexpr int fused_blocks(int tiles, bool two_words) {
  const int warps = fused_warps(tiles, two_words);
  if (tiles <= 2) return 20 / warps;
  if (tiles <= 7 || two_words) return tiles <= 8 ? 12 / warps : 1;
  return 8 / warps;
}

// fp16 words from one row to the next in device memory. 112, and more than can be formed, are
// padded to whole cache lines.
constexpr int fused_stride_of_tiles(int tiles) { return tiles == 7 ? 128 : tiles * kFusedTile; }
constexpr std::int64_t fused_stride(int factors) {
  if (factors > kMostFormedFactors) return (factors + 63) / 64 * 64;
  return fused_stride_of_tiles(fused_tiles(factors));
}

// Which warp has which block rows: the longest first, each to the warp with the fewest blocks so
// far. A warp's blocks are numbered (slots), row by row.
struct FusedMap {
  int warp[16] = {};        // of a block row
  int first_slot[16] = {};  // of block (row, 0)
  int ordinal[16] = {};     // of the row, among its warp's
  int columns[16] = {};     // of a warp: block columns that it has a part in
  int slots = 0;            // the most of a warp
  int rows = 0;             // the most of a warp
};
constexpr FusedMap fused_map(int tiles, int warps) {
  FusedMap map;
  int blocks[16] = {};
  int rows[16] = {};
  for (int row = tiles - 1; row >= 0; --row) {
    int least = 0;
    for (int warp = 1; warp < warps; ++warp) {
      if (blocks[warp] < blocks[least]) least = warp;
    }
    if (rows[least] == 0) map.columns[least] = row + 1;
    map.warp[row] = least;
    map.first_slot[row] = blocks[least];
    map.ordinal[row] = rows[least]++;
    blocks[least] += row + 1;
    if (blocks[least] > map.slots) map.slots = blocks[least];
    if (rows[least] > map.rows) map.rows = rows[least];
  }
  return map;
}

// Accumulators of a thread: 8 of each block, 4 of each block row's part of b. For a part of a split
// row it leaves them in the scratch memory.
constexpr int fused_slot_floats_of_thread(int tiles, int warps) {
  const FusedMap map = fused_map(tiles, warps);
  return map.slots * 8 + map.rows * 4;
}

}  // namespace mf::als
