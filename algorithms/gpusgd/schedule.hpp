// Which blocks run together, which ratings of a block do, and who adds what in a tree. The kernels,
// device_arrangement.cu and the tests use the same functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/host_device.hpp"

namespace mf::gpusgd {

// R is cut into l x l blocks of `rows` users and `columns` items, the last ones smaller or empty.
struct Cut {
  std::int32_t blocks;  // l
  std::int32_t rows;
  std::int32_t columns;
};

inline std::int32_t ceil_div(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>((std::int64_t{a} + b - 1) / b);
}

// gpusgd: R padded to a square, blocks of ceil(max(m, n) / l) squared.
inline Cut square_cut(std::int32_t n_users, std::int32_t n_items, std::int32_t blocks) {
  const std::int32_t side = ceil_div(std::max({n_users, n_items, 1}), blocks);
  return {blocks, side, side};
}
// newgpusgd: blocks of ceil(m / l) x ceil(n / l).
inline Cut rectangular_cut(std::int32_t n_users, std::int32_t n_items, std::int32_t blocks) {
  return {blocks, ceil_div(std::max(n_users, 1), blocks), ceil_div(std::max(n_items, 1), blocks)};
}

// Blocks with one tag lie on a wrapped diagonal: l of them, no two in one row or column.
MF_HD std::int32_t tag_of(std::int32_t block_row, std::int32_t block_column, std::int32_t blocks) {
  const std::int32_t tag = block_column - block_row;
  return tag < 0 ? tag + blocks : tag;
}

MF_HD std::int32_t column_of(std::int32_t block_row, std::int32_t tag, std::int32_t blocks) {
  const std::int32_t column = block_row + tag;
  return column < blocks ? column : column - blocks;
}

// Place of a block in the tables: the blocks of a tag side by side.
MF_HD std::int64_t slot_of(std::int32_t tag, std::int32_t block_row, std::int32_t blocks) {
  return std::int64_t{tag} * blocks + block_row;
}

// For the block that a rating is in.
MF_HD std::int64_t slot_of_rating(const Cut& cut, std::int32_t user, std::int32_t item) {
  const std::int32_t row = user / cut.rows;
  return slot_of(tag_of(row, item / cut.columns, cut.blocks), row, cut.blocks);
}

// Group of a rating in its square block of side z: (column - row) mod z. Two ratings of a group in
// one row would be in one column too. The block's corner is a multiple of z, so that it drops out.
MF_HD std::int32_t group_of(std::int32_t user, std::int32_t item, std::int32_t side) {
  const std::int32_t group = item % side - user % side;
  return group < 0 ? group + side : group;
}

// Whether thread k of a tree over f elements adds element k + distance to its own; distance = 1, 2,
// 4, ...
MF_HD bool adds(int k, int distance, int f) { return k % (2 * distance) == 0 && k + distance < f; }

// Steps of a thread block (facts.hpp) with a group of that many ratings.
MF_HD std::int64_t steps_of_group(std::int64_t ratings, std::int64_t threads) {
  return (ratings + threads - 1) / threads;
}

// ceil(log2 f).
inline int tree_rounds(std::int32_t factors) {
  return std::bit_width(static_cast<std::uint32_t>(factors - 1));
}

// Steps of a rating in Scheme::tree: the products, the rounds of the tree, the update.
inline std::int64_t steps_of_tree(std::int32_t factors) { return 2 + tree_rounds(factors); }

}  // namespace mf::gpusgd
