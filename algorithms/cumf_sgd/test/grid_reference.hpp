// The wavefront's grid on the host, one rating after another, as device_grid.hpp makes it on the
// device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "algorithms/cumf_sgd/grid.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::cumf_sgd::test {

struct WavefrontGrid {
  std::vector<std::int64_t> offsets;  // bands x columns + 1: where a block begins
  std::vector<Rating> ratings;        // block by block
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
// user is in one band, an item in one column.
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
  const Permutation order = grid_order(train.nnz(), seed);
  for (std::int64_t i = 0; i < train.nnz(); ++i) grid.ratings.push_back(train[order(i)]);
  std::stable_sort(grid.ratings.begin(), grid.ratings.end(),
                   [&](const Rating& a, const Rating& b) { return block_of(a) < block_of(b); });
  grid.offsets.assign(bands * columns + 1, 0);
  for (const Rating& rating : grid.ratings) ++grid.offsets[block_of(rating) + 1];
  std::partial_sum(grid.offsets.begin(), grid.offsets.end(), grid.offsets.begin());
  return grid;
}

}  // namespace mf::cumf_sgd::test
