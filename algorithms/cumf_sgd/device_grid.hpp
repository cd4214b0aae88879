// The wavefront's grid, bands of users by blocks of items, made on the device: the ratings of each
// block together, in random order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/cuda/device_ratings.hpp"
#include "algorithms/core/cuda/memory.hpp"

namespace mf::cumf_sgd {

struct DeviceGrid {
  cuda::DeviceBuffer<std::int32_t> users;  // nnz, block by block
  cuda::DeviceBuffer<std::int32_t> items;
  cuda::DeviceBuffer<float> values;
  cuda::DeviceBuffer<std::int64_t> offsets;  // bands x columns + 1: where a block begins
};

// Bands and columns of about equal numbers of ratings. A user is in one band, an item in one
// column. The order depends on the seed. More bands than users or more columns than items leave
// some without ratings. Queued. At most kMostSorted ratings.
DeviceGrid make_device_grid(cuda::DeviceRatings& ratings, std::int64_t bands, std::int64_t columns,
                            std::uint64_t seed, cudaStream_t stream);

}  // namespace mf::cumf_sgd
