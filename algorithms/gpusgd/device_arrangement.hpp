// The ratings in the order in which the blocks are worked on, made on the device: diagonal by
// diagonal, block by block.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/gpusgd/facts.hpp"
#include "datasets/ratings/rating.hpp"

namespace mf::gpusgd {

struct DeviceArrangement {
  Cut cut;
  // For a block by user, then item. Scheme::grouped: by group, then user.
  cuda::DeviceBuffer<Rating> ratings;
  // Scheme::tree: the ratings of slot s (slot_of) are offsets[s] to offsets[s + 1]; l * l + 1.
  cuda::DeviceBuffer<std::int64_t> offsets;
  // Scheme::grouped: the groups of slot s are first_group[s] to first_group[s + 1] - 1, counting
  // only groups with a rating; group g is the ratings group_begins[g] to group_begins[g + 1] - 1.
  cuda::DeviceBuffer<std::int64_t> first_group, group_begins;
  BlockCounts counts;
};

// Releases the rows. Waits for the stream. At most kMostSorted ratings.
DeviceArrangement arrange_on_device(const Settings& settings, cuda::DeviceRatings& ratings,
                                    cudaStream_t stream);

}  // namespace mf::gpusgd
