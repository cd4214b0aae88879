// Products of a few rows with many columns on one core, all sums of a tile in registers: the inner
// loop of dense products. The best instruction set that this CPU has is used.
#pragma once

#include <cstdint>

namespace mf {

inline constexpr int kTileRows = 12;    // of A, at most
inline constexpr int kPanelLanes = 32;  // columns of B that lie side by side

// C = A B in fp32, for A of `rows` x depth and B of depth x columns, which are a multiple of
// kPanelLanes: each sum in the order of k.
struct TileProduct {
  const float* a;  // element k of row r at r * a_row + k * a_step; of kTileRows rows
  std::int64_t a_row, a_step;
  const float* panels;  // of kPanelLanes columns: row k of each is kPanelLanes further
  std::int64_t depth;
  int rows, columns;
  float* c;  // row r at r * c_row; rows up to kTileRows may be written
  std::int64_t c_row;
};

using TileMultiply = void (*)(TileProduct of);
TileMultiply choose_tile_multiply();

}  // namespace mf
