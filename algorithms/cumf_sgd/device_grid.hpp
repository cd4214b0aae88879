// Blocks of R, made on the device, the ratings of each together, in random order: the wavefront's
// grid, bands of users by columns of items, and one device's share of batch_hogwild's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"

namespace mf::cumf_sgd {

struct DeviceGrid {
  cuda::DeviceBuffer<std::int32_t> users;  // nnz, block by block
  cuda::DeviceBuffer<std::int32_t> items;
  cuda::DeviceBuffer<float> values;
  cuda::DeviceBuffer<std::int64_t> offsets;  // bands x columns + 1: start of each block
};

// Bands and columns of about equal numbers of ratings. A user is in one band, an item in one
// column. The order depends on the seed. More bands than users or more columns than items leave
// some without ratings. Queued. At most kMostSorted ratings.
DeviceGrid make_device_grid(cuda::DeviceRatings& ratings, std::int64_t bands, std::int64_t columns,
                            std::uint64_t seed, cudaStream_t stream);

struct DeviceBlocks {
  cuda::DeviceBuffer<std::int32_t> users, items;  // nnz, block by block
  cuda::DeviceBuffer<float> values;
  std::vector<std::int64_t> offsets;  // starts of blocks, and the end of the last
};

// Block b has the items [cuts[b], cuts[b + 1]), which are all. Row x is user first_user + x. Waits.
// At most kMostSorted ratings.
DeviceBlocks make_device_blocks(const cuda::RatingsOfRows& rows, std::int64_t first_user,
                                const std::vector<std::int64_t>& cuts, std::uint64_t seed,
                                cudaStream_t stream);

}  // namespace mf::cumf_sgd
