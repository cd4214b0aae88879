// How the threads of a block share the lower half of A_u: a tile of T x T in registers each.
//
// Tiles come in quads of 2 x 2, a quad for four threads that follow each other: bit 0 of the thread
// is the column of the tile in its quad, bit 1 its row. So neighbouring threads read the same part
// of a row of factors from shared memory, which is then delivered once. Quads on and below the
// diagonal are formed; in those on it, one of the four tiles is the mirror image of another.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace mf::als {

struct Quad {
  int row;
  int column;  // <= row
};

// Quads of the lower half, row by row.
MF_HD Quad quad_at(int index) {
  int row = 0;
  while ((row + 1) * (row + 2) / 2 <= index) ++row;
  return {row, index - row * (row + 1) / 2};
}

// kSide: T. kTiles: along a side of A, even. kSplit: groups of threads that each take every
// kSplit-th rating, so that a small A still occupies whole warps; their tiles are added at the end.
template <int kSide_, int kTiles_, int kSplit_>
struct TileLayout {
  static constexpr int kSide = kSide_;
  static constexpr int kTiles = kTiles_;
  static constexpr int kSplit = kSplit_;
  static_assert(kSide == 4 || kSide == 8 || kSide == 10);
  static_assert(kTiles % 2 == 0 && (kSplit & (kSplit - 1)) == 0);

  static constexpr int kWidth = kSide * kTiles;  // most factors
  static constexpr int kQuadRows = kTiles / 2;
  static constexpr int kGroup = 2 * kQuadRows * (kQuadRows + 1);  // threads that hold one A
  static constexpr int kThreads = (kGroup * kSplit + 31) / 32 * 32;
  static constexpr int kWarps = kThreads / 32;
  // Floats from one staged row to the next: an odd number of 16-byte words, so that threads which
  // write the same word of different rows meet different banks.
  static constexpr int kPitch = kWidth / 4 % 2 == 1 ? kWidth : kWidth + 4;
  static constexpr int kBin = 32;    // staged ratings
  static constexpr int kUnroll = 2;  // ratings of one turn of the inner loop, each group
  static constexpr int kStep = kSplit * kUnroll;
  static_assert(kBin % kStep == 0);

  // A warp reads 32 / kLanes rows at once, kLanes lanes each.
  static constexpr int kWords = kWidth / 4;
  static constexpr int kLanes = kWords > 16 ? 32 : kWords > 8 ? 16 : kWords > 4 ? 8 : 4;
  static constexpr int kRowsAtOnce = 32 / kLanes;

  // Thread blocks that a multiprocessor is to hold: the warps that each of its four schedulers has
  // registers for (512 / warps a thread: accumulators, two fragments, addresses).
  static constexpr int kSchedulerWarps = kSide == 10 ? 3 : kSide == 8 ? 4 : 8;
  static constexpr int kFit = 4 * kSchedulerWarps / kWarps;
  static constexpr int kBlocks = kFit < 1 ? 1 : kFit;

  // Floats of shared memory.
  static constexpr int kStage = kBin * kPitch;
  static constexpr int kSlab = 2 * kSide * kPitch;
  static constexpr int kReduce = kSplit / 2 * kGroup * kSide * kSide;
  static constexpr int kMost = kReduce > kSlab ? kReduce : kSlab;
  static constexpr int kShared = kStage > kMost ? kStage : kMost;

  // Factor number i of tile t. Tiles of 8 own two runs of four, one in each half of the row: so the
  // 16-byte words that threads of neighbouring tiles read at once follow each other.
  static MF_HD constexpr int element(int tile, int i) {
    if (kSide != 8) return tile * kSide + i;
    return tile * 4 + (i & 3) + (i < 4 ? 0 : kWidth / 2);
  }

  // A is written out in slabs of 2 T rows, a slab a quad row q. Row s of the slab is row
  // slab_element(q, s) of A; element(2 q + parity, i) is its row slab_row(parity, i).
  static MF_HD constexpr int slab_row(int parity, int i) {
    if (kSide != 8) return parity * kSide + i;
    return parity * 4 + (i & 3) + (i < 4 ? 0 : 8);
  }
  static MF_HD constexpr int slab_element(int quad_row, int s) {
    if (kSide != 8) return quad_row * 2 * kSide + s;
    return quad_row * 8 + (s & 7) + (s < 8 ? 0 : kWidth / 2);
  }
};

// More do not fit the registers of one thread block.
constexpr std::int32_t kMostTiledFactors = 256;

// Calls f with the layout for that many factors, at most kMostTiledFactors: f(TileLayout<...>{}).
template <class F>
void with_layout(std::int32_t factors, F&& f) {
  if (factors <= 16) return f(TileLayout<4, 4, 8>{});
  if (factors <= 32) return f(TileLayout<8, 4, 8>{});
  if (factors <= 48) return f(TileLayout<8, 6, 4>{});
  if (factors <= 64) return f(TileLayout<8, 8, 4>{});
  if (factors <= 80) return f(TileLayout<8, 10, 2>{});
  if (factors <= 100) return f(TileLayout<10, 10, 1>{});
  if (factors <= 128) return f(TileLayout<8, 16, 1>{});
  if (factors <= 160) return f(TileLayout<10, 16, 1>{});
  if (factors <= 200) return f(TileLayout<10, 20, 1>{});
  return f(TileLayout<10, 26, 1>{});
}

// The scale of A before it is rounded to fp16: a power of two that takes its largest diagonal
// element (no element of A is larger) into [2^14, 2^15), below the largest fp16, 65504.
MF_HD int fp16_exponent(float largest_diagonal) {
  if (!(largest_diagonal > 0) || largest_diagonal > 3e38F) return 0;
  int exponent = 0;
  frexpf(largest_diagonal, &exponent);  // largest = m 2^exponent, m in [1/2, 1)
  const int shift = 15 - exponent;
  return shift > 100 ? 100 : shift < -112 ? -112 : shift;
}

}  // namespace mf::als
