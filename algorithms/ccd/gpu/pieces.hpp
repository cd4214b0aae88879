// Which tasks each block of threads does. Tasks of a tile go in two groups, the long ones, which a
// warp does, and the short ones, which eight lanes do. The tiles in a row are cut into shares of
// equal cost, one for each block. What a block has of a tile is a piece: the same part of its long
// tasks as of its short ones, so that what is wrong in their cost is so for all blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/ccd/layout.hpp"

namespace mf::ccd {

// A task of at most this many units of 4 ratings is short.
inline constexpr std::int32_t kShortUnits = 8;

struct Piece {
  std::int64_t long_begin, long_end;    // tasks
  std::int64_t short_begin, short_end;  // tasks
  std::int64_t tile;
};

struct Pieces {
  std::vector<Piece> pieces;
  std::vector<std::int32_t> of_block;  // blocks + 1: where those of a block begin
};

// Puts the long tasks of each tile before the short ones, both in the order of memory; which slot a
// task has does not change.
void order_tasks(Layout& layout);

// Of tasks in that order.
Pieces cut_pieces(const Layout& layout, std::int64_t blocks);

}  // namespace mf::ccd
