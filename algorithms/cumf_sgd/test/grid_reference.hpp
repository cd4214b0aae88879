// The wavefront's grid: bands of users, blocks of items, and the ratings of each block together.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::cumf_sgd {

struct WavefrontGrid {
  std::int64_t bands = 0;
  std::int64_t columns = 0;
  std::vector<std::int64_t> offsets;  // bands x columns + 1: where a block begins
  AlignedVector<std::int32_t> users;  // nnz, block by block
  AlignedVector<std::int32_t> items;
  AlignedVector<float> values;
};

// Bands and columns of about equal numbers of ratings; the ratings of a block in random order. A
// user is in one band, an item in one column. The result depends on the seed, not on the threads.
// More bands than users or more columns than items leave some without ratings.
WavefrontGrid make_grid(const Ratings& train, std::int64_t bands, std::int64_t columns,
                        std::uint64_t seed, ThreadTeam& team);

}  // namespace mf::cumf_sgd
