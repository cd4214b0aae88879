// The ratings of a rank by the blocks of items that it works on in turn.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"

namespace mf::sgd_tiled {

// Block b has the items [cuts[b], cuts[b + 1]).
class ItemBlocks {
 public:
  ItemBlocks() = default;
  // `users` may end then: waits for the stream. 8 bytes a rating, and a user and block.
  ItemBlocks(const cuda::RatingsOfRows& users, const std::vector<std::int64_t>& cuts,
             cudaStream_t stream);

  // Rows of the same users, with the ratings of the block's items; their offsets count the ratings
  // of all blocks.
  cuda::RatingsOfRows users_in(int block) const;
  std::int64_t nnz() const { return static_cast<std::int64_t>(ratings_.size()); }

 private:
  std::int64_t rows_ = 0;
  std::vector<std::int64_t> counts_;          // ratings of each block
  cuda::DeviceBuffer<std::int64_t> offsets_;  // of each user in each block, block by block
  cuda::DeviceBuffer<RowRating> ratings_;
};

}  // namespace mf::sgd_tiled
