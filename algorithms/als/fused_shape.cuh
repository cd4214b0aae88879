// What als_fused's kernel is compiled for, and its shared memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/als/fused_kernels.hpp"
#include "algorithms/als/fused_plan.hpp"

namespace mf::als {

constexpr int kDepth = 64;  // ratings in one tile of gathered rows: steps of 16 of the tensor cores

// Tiles: block rows of A. TwoWords: rows are the sum of two words, and CG multiplies in fp32; else
// one word, and CG multiplies by A in fp16 on the tensor cores. Free: the last 8 elements of a
// padded row hold no factor; the rating's two words are the first of them, and b is two rows of the
// product.
template <int Tiles, bool TwoWords, bool Free>
struct FusedShape {
  static constexpr int kTiles = Tiles;
  static constexpr bool kTwoWords = TwoWords;
  static constexpr bool kFree = Free;
  static constexpr int kStride = Tiles * kFusedTile;  // elements of a row, padded
  static constexpr int kRatingAt = kStride - 8;       // and the next one, where Free
  static constexpr int kWarps = fused_warps(Tiles);
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kWords = TwoWords ? 2 : 1;
  static constexpr int kStages = 2;  // tiles in shared memory; the kernel takes 2 or more
  // Lanes that copy a row, 16 bytes each: a power of two.
  static constexpr int kLanes = Tiles <= 2 ? 4 : Tiles <= 4 ? 8 : Tiles <= 8 ? 16 : 32;
  // In bytes. 16 more than the row: eight rows then lie in different banks for ldmatrix.
  static constexpr int kPitch = kStride * 2 + 16;
  static constexpr int kTileBytes = kDepth * kPitch;
  static constexpr int kSlotFloats = fused_slot_floats_of_thread(Tiles);
  // Thread blocks that the registers of a multiprocessor must hold.
  static constexpr int kBlocks = Tiles <= 2 ? 16 : Tiles <= 4 ? 10 : Tiles <= 8 ? 3 : 1;
  // Elements of a vector that a lane has, four by four: 4 (lane + 32 k) + 0 to 3.
  static constexpr int kQuads = (kStride + 127) / 128;
  static constexpr int kVector = 128 * kQuads;  // elements of a vector in shared memory
};

template <class Shape>
struct FusedShared {
  // This turn's, those of the two after it, and the one that slower warps may still be solving.
  static constexpr int kTasks = 4;
  alignas(16) unsigned char tiles[Shape::kStages][Shape::kWords][Shape::kTileBytes];
  // Of the tile that is copied next, and the one after it: by the parity of the tile.
  alignas(16) FusedEntry entries[2][kDepth];
  // Of the first tiles of the next task.
  alignas(16) FusedEntry first[Shape::kStages - 1][kDepth];
  // The ratings' words, where they do not stand in the tiles; Free: not used.
  alignas(16) std::uint32_t ratings[Shape::kStages][Shape::kFree ? 4 : kDepth];
  alignas(16) FusedTask tasks[kTasks];
  alignas(16) float b[Shape::kVector];
  // p for the products, each warp its own: fp32, or two fp16 words in the order of an operand.
  alignas(16) float p[Shape::kWarps][Shape::kVector];
  // Parts of A p, by turns for one product and the next: of block rows; of block columns, a role
  // each. What a role has no part in stays zero.
  alignas(16) float by_row[2][Shape::kVector];
  alignas(16) float by_column[2][Shape::kWarps][Shape::kVector];
  float largest[Shape::kWarps];  // of each warp's part of A
  bool last;                     // of a split row, this block came last
};

// Calls body(integral_constant<role>): what a warp does is compiled for its block rows.
template <int Warps, int Role = 0, class Body>
__device__ __forceinline__ void with_role(int role, Body&& body) {
  if constexpr (Role + 1 == Warps) {
    body(std::integral_constant<int, Role>());
  } else {
    if (role == Role) {
      body(std::integral_constant<int, Role>());
    } else {
      with_role<Warps, Role + 1>(role, body);
    }
  }
}

// Slots: the blocks of the upper block row, then those of the lower one.
template <int Tiles, int Role>
struct BlockRows {
  static constexpr int kUpper = Role;
  static constexpr int kLower = Tiles - 1 - Role;
  static constexpr bool kTwo = kUpper != kLower;
  static constexpr int kLowerSlot = kTwo ? kUpper + 1 : 0;  // of block (kLower, 0)
};

// Calls body(block row, block column, slot) for the blocks of a warp.
template <int Tiles, int Role, class Body>
__device__ __forceinline__ void for_blocks(Body&& body) {
  using Rows = BlockRows<Tiles, Role>;
#pragma unroll
  for (int column = 0; column <= Rows::kLower; ++column) {
    if (Rows::kTwo && column <= Rows::kUpper) body(Rows::kUpper, column, column);
    body(Rows::kLower, column, Rows::kLowerSlot + column);
  }
}

// What a thread has of the lower half of A, as the tensor cores leave it: of each block, elements
// (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1) and the same eight columns further, where
// g = lane / 4, t = lane % 4. b: columns 0 and 1 of the product with the ratings' two words.
template <class Shape>
struct Accumulators {
  float a[Shape::kTiles + 1][8];
  float b[Shape::kFree ? 1 : 2][4];  // of the upper and the lower block row
};

}  // namespace mf::als
