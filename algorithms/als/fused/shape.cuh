// Compile-time shapes of als_fused's kernel, and its shared memory.
#pragma once

#include <cstdint>
#include <utility>

#include "algorithms/als/fused/kernels.hpp"
#include "algorithms/als/fused/layout.hpp"
#include "base/host_device.hpp"

namespace mf::als {

constexpr int kDepth = 64;  // ratings in one tile of gathered rows: steps of 16 of the tensor cores

// Tiles: block rows of A. TwoWords: rows are the sum of two words, and CG multiplies in fp32; else
// one word, and CG multiplies by A in fp16 on the tensor cores. Free: the last 8 elements of a
// padded row hold no factor; the rating's two words are the first of them, and b is two rows of the
// product. Weighted: the words are a weight w's, A = sum w theta theta^T, and b = sum (w +
// rule.beside) theta.
template <int Tiles, bool TwoWords, bool Free, bool Weighted = false>
struct FusedShape {
  static constexpr int kTiles = Tiles;
  static constexpr bool kTwoWords = TwoWords;
  static constexpr bool kFree = Free;
  static constexpr bool kWeighted = Weighted;
  static_assert(!Free || !Weighted, "b has its own columns if ratings are weights");
  static constexpr int kStride = Tiles * kFusedTile;                  // elements of a row, padded
  static constexpr int kMemoryStride = fused_stride_of_tiles(Tiles);  // in device memory
  static constexpr int kRatingAt = kStride - 8;                       // and the next one, if Free
  static constexpr int kWarps = fused_warps(Tiles, TwoWords);
  static constexpr FusedMap kMap = fused_map(Tiles, kWarps);
  static constexpr int kSlots = kMap.slots;  // blocks of A that a warp has
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kWords = TwoWords ? 2 : 1;
  static constexpr int kStages = 2;  // tiles in shared memory
  // Lanes that copy a row, 16 bytes each: a power of two.
  static constexpr int kLanes = Tiles <= 2 ? 4 : Tiles <= 4 ? 8 : Tiles <= 8 ? 16 : 32;
  // Rows lie in shared memory without gaps. The 16-byte word w of row k is at w ^ swizzle(k), so
  // equal words of eight rows are in different banks for ldmatrix, and a sector of global memory
  // (32 bytes) stays whole.
  static constexpr int kPitch = kStride * 2;  // bytes
  static constexpr int kSwizzle = Tiles % 4 == 0 ? 8 : Tiles % 2 == 0 ? 4 : 2;
  MF_HD static constexpr unsigned swizzle(unsigned k) { return k % 8 / (8 / kSwizzle); }
  static constexpr int kTileBytes = kDepth * kPitch;
  static constexpr int kSlotFloats = fused_slot_floats_of_thread(Tiles, kWarps);
  static constexpr int kBlocks = fused_blocks(Tiles, TwoWords);
  // Elements of a vector that a lane has, four by four: 4 (lane + 32 k) + 0 to 3.
  static constexpr int kQuads = (kStride + 127) / 128;
  static constexpr int kVector = 128 * kQuads;  // elements of a vector in shared memory
  // Words from the high parts of p to its low ones, which lanes read beside them: in other banks.
  static constexpr int kPlane = kVector / 2 + 8;
};

template <class Shape>
struct FusedShared {
  // This turn's tasks, the next two turns', and the one that slower warps may still be solving.
  static constexpr int kTasks = 4;
  alignas(128) unsigned char tiles[Shape::kStages][Shape::kWords][Shape::kTileBytes];
  // Ratings of the tile that is copied next, and of the one after it: by the parity of the tile.
  alignas(16) FusedEntry entries[2][kDepth];
  alignas(16) FusedEntry first[kDepth];  // of the next task's first tile
  // The ratings' words, if they do not stand in the tiles; Free: not used.
  alignas(16) std::uint32_t ratings[Shape::kStages][Shape::kFree ? 4 : kDepth];
  alignas(16) FusedTask tasks[kTasks];
  alignas(16) float b[Shape::kVector];
  // p for the products, each warp its own: fp32, or two fp16 words in the order of an operand.
  alignas(16) float p[Shape::kWarps][2 * Shape::kPlane];
  // Each warp's part of A p, by turns for one product and the next. Elements without a part of the
  // warp stay zero.
  alignas(16) float parts[2][Shape::kWarps][Shape::kVector];
  alignas(16) float x[Shape::kVector];  // the row's last value
  float largest[Shape::kWarps];         // of each warp's part of A
  bool last;                            // of a split row, this block came last
};

// std::integral_constant, for the device too.
template <int I>
struct Index {
  MF_HD constexpr operator int() const { return I; }
};

// Calls body(Index<role>): a warp's work is compiled for its block rows.
template <int Warps, int Role = 0, class Body>
__device__ __forceinline__ void with_role(int role, Body&& body) {
  if constexpr (Role + 1 == Warps) {
    body(Index<Role>());
  } else {
    if (role == Role) {
      body(Index<Role>());
    } else {
      with_role<Warps, Role + 1>(role, body);
    }
  }
}

template <class Body, int... I>
__device__ __forceinline__ void for_each_index(std::integer_sequence<int, I...>, Body&& body) {
  (body(Index<I>()), ...);
}
// Calls body(Index<i>), i < N.
template <int N, class Body>
__device__ __forceinline__ void for_index(Body&& body) {
  for_each_index(std::make_integer_sequence<int, N>(), body);
}

// Calls body(Index<block row>) for a warp's block rows.
template <class Shape, int Role, class Body>
__device__ __forceinline__ void for_rows(Body&& body) {
  for_index<Shape::kTiles>([&](auto row) {
    if constexpr (Shape::kMap.warp[row] == Role) body(row);
  });
}

// Calls body(block row, block column, slot) for the blocks of a warp, column by column.
template <class Shape, int Role, class Body>
__device__ __forceinline__ void for_blocks(Body&& body) {
  for_index<Shape::kMap.columns[Role]>([&](auto column) {
    for_rows<Shape, Role>([&](auto row) {
      if constexpr (column <= row) {
        constexpr int kSlot = Shape::kMap.first_slot[row] + column;
        body(row, column, Index<kSlot>());
      }
    });
  });
}

// A thread's share of the lower half of A, as the tensor cores leave it: of each block, elements
// (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1) and the same eight columns further, where g =
// lane / 4, t = lane % 4. b: columns 0 and 1 of the product with the ratings' two words; Weighted:
// and column 2.
template <class Shape>
struct Accumulators {
  float a[Shape::kSlots][8];
  float b[Shape::kFree ? 1 : Shape::kMap.rows][4];  // of the block rows
};

}  // namespace mf::als
