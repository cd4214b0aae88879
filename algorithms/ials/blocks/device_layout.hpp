// How the kernels of iALS++ lay out a block of coordinates. Light: kernels include it, and
// settings.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace mf::ials {

constexpr int kMaxBlockSize = 128;

// Threads are a square of kSquare x kSquare; thread (t, s) holds the elements (16 a + t, 16 b + s)
// of the block's Hessian, a and b below the tile's side: 1, 2, 4 or 8.
constexpr int kSquare = 16;
MF_HD constexpr int tile_side(int coordinates) {
  return coordinates <= 16 ? 1 : coordinates <= 32 ? 2 : coordinates <= 64 ? 4 : 8;
}

// The place of coordinate c of a staged row in shared memory, such that the elements of a thread
// follow each other, up to four of them in one word.
template <int kSide>
MF_HD constexpr int staged_position(int c) {
  constexpr int kWord = kSide < 4 ? kSide : 4;
  const int number = c / kSquare;  // of the thread's elements
  return number / kWord * (kSquare * kWord) + c % kSquare * kWord + number % kWord;
}

// Column k of a lower triangle of side d, packed by columns: element (i, k), i >= k, is number
// column_begin(k, d) + i - k.
MF_HD constexpr int column_begin(int k, int d) { return k * d - k * (k - 1) / 2; }
MF_HD constexpr int triangle_size(int d) { return d * (d + 1) / 2; }

// Floats of a part of a split row: the tiles of all threads, then the gradient.
MF_HD constexpr std::int64_t part_floats(int coordinates) {
  const int side = tile_side(coordinates);
  return std::int64_t{kSquare * kSquare} * side * side + kSquare * side;
}

}  // namespace mf::ials
