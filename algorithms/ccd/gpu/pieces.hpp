// Which tasks each block of threads does. Tasks of a tile go in two groups, the long ones, which a
// warp does, and the short ones, which eight lanes do. The tiles in a row are cut into shares of
// equal cost, one for each block. What a block has of a tile is a piece: the same part of its long
// tasks as of its short ones, so that what is wrong in their cost is so for all blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/ccd/layout.hpp"
#include "base/host_device.hpp"
#include "base/view.hpp"

namespace mf::ccd {

// A task of at most this many units of 4 ratings is short.
inline constexpr std::int32_t kShortUnits = 8;

// What a task costs beyond its ratings, in units of 4 of them: finding it, waiting for its first
// ratings, and adding its lanes.
inline constexpr std::int64_t kLongCost = 32;
inline constexpr std::int64_t kShortCost = 8;

MF_HD bool is_short(std::int64_t units) { return units <= kShortUnits; }
MF_HD std::int64_t cost_of(std::int64_t units) {
  return units + (is_short(units) ? kShortCost : kLongCost);
}

// Tasks of a segment of so many units, and the long ones among them, which come first.
MF_HD std::int64_t tasks_of(std::int64_t units, std::int64_t task_units) {
  return (units + task_units - 1) / task_units;
}
MF_HD std::int64_t long_tasks_of(std::int64_t units, std::int64_t task_units) {
  const std::int64_t whole = is_short(task_units) ? 0 : units / task_units;
  return whole + (is_short(units % task_units) ? 0 : 1);
}

// The tasks of a tile, [begin, middle) the long ones, [middle, end) the short ones, and what they
// cost.
struct TileTasks {
  std::int64_t begin = 0, middle = 0, end = 0;
  std::int64_t long_cost = 0, short_cost = 0;

  std::int64_t cost() const { return long_cost + short_cost; }
};

// The cost [first, last) of `whole`, that of a tile.
struct Share {
  std::int64_t tile, first, last, whole;
};

// Which part of tasks [begin, end) comes before: the first task before which at least the share of
// `part` in `whole` of their cost lies. before[t]: what all tasks before t cost. Grows with `part`,
// from `begin` at 0 to `end` at `whole`.
struct Cut {
  std::int64_t begin, end;
  std::int64_t part, whole;

  MF_HD std::int64_t at(const std::int64_t* before) const {
    if (part >= whole) return end;
    const std::int64_t cost = before[end] - before[begin];
    const double target =
        static_cast<double>(cost) * static_cast<double>(part) / static_cast<double>(whole);
    std::int64_t low = begin;
    std::int64_t high = end;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (static_cast<double>(before[middle] - before[begin]) < target) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

struct Piece {
  std::int64_t long_begin, long_end;    // tasks
  std::int64_t short_begin, short_end;  // tasks
  std::int64_t tile;
};

struct Pieces {
  std::vector<Piece> pieces;
  std::vector<std::int32_t> of_block;  // blocks + 1: where those of a block begin
};

// The shares of blocks, the first one's first.
struct Shares {
  std::vector<Share> shares;
  std::vector<std::int32_t> of_block;  // blocks + 1
};
Shares cut_shares(View<const TileTasks> tiles, std::int64_t blocks);

// Four cuts of each share: where its long tasks begin and end, and its short ones.
std::vector<Cut> cuts_of(const Shares& shares, View<const TileTasks> tiles);
// Of what Cut::at says of them.
Pieces make_pieces(const Shares& shares, View<const std::int64_t> cuts);

}  // namespace mf::ccd
