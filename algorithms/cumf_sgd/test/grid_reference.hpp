// The wavefront's grid on the host, one rating after another: what device_grid.hpp makes on the
// device.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "algorithms/cumf_sgd/grid.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::cumf_sgd::test {

struct WavefrontGrid {
  std::int64_t bands = 0;
  std::int64_t columns = 0;
  std::vector<std::int64_t> offsets;  // bands x columns + 1: where a block begins
  std::vector<std::int32_t> users;    // nnz, block by block
  std::vector<std::int32_t> items;
  std::vector<float> values;
};

inline std::vector<std::int64_t> parts_of_rows(const std::vector<std::int64_t>& counts,
                                               std::int64_t parts) {
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::vector<std::int64_t> part;
  std::int64_t before = 0;
  for (const std::int64_t count : counts) {
    part.push_back(part_of_row(before, parts, total));
    before += count;
  }
  return part;
}

// Bands and columns of about equal numbers of ratings; the ratings of a block in random order. A
// user is in one band, an item in one column. More bands than users or more columns than items
// leave some without ratings.
inline WavefrontGrid make_grid(const Ratings& train, std::int64_t bands, std::int64_t columns,
                               std::uint64_t seed) {
  std::vector<std::int64_t> of_users(train.n_users());
  std::vector<std::int64_t> of_items(train.n_items());
  for (std::int64_t i = 0; i < train.nnz(); ++i) {
    ++of_users[train[i].user];
    ++of_items[train[i].item];
  }
  const auto band_of = parts_of_rows(of_users, bands);
  const auto column_of = parts_of_rows(of_items, columns);
  const auto block_of = [&](const Rating& rating) {
    return band_of[rating.user] * columns + column_of[rating.item];
  };
  WavefrontGrid grid;
  grid.bands = bands;
  grid.columns = columns;
  grid.offsets.assign(bands * columns + 1, 0);
  grid.users.resize(train.nnz());
  grid.items.resize(train.nnz());
  grid.values.resize(train.nnz());
  for (std::int64_t i = 0; i < train.nnz(); ++i) ++grid.offsets[block_of(train[i]) + 1];
  std::partial_sum(grid.offsets.begin(), grid.offsets.end(), grid.offsets.begin());
  std::vector<std::int64_t> next = grid.offsets;
  const Permutation order = grid_order(train.nnz(), seed);
  for (std::int64_t i = 0; i < train.nnz(); ++i) {
    const Rating rating = train[order(i)];
    const std::int64_t to = next[block_of(rating)]++;
    grid.users[to] = rating.user;
    grid.items[to] = rating.item;
    grid.values[to] = rating.value;
  }
  return grid;
}

}  // namespace mf::cumf_sgd::test
