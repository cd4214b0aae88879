// The tiles that sgd_tiled trains on, made on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/sgd_tiled/tiles.hpp"

namespace mf::sgd_tiled {

struct DeviceTiles {
  cuda::DeviceBuffer<Chunk> chunks;  // bundles x bundle_size
  std::int64_t bundles = 0;
};

// Bundles of `bundle_size` chunks of at most `longest` ratings. Waits for the stream.
DeviceTiles make_device_tiles(const cuda::RatingsOfRows& users, int longest, int bundle_size,
                              std::uint64_t seed, cudaStream_t stream);

// to = the ratings with each user's in its own random order, items marked with their exponents
// (marked_item). Queued.
void launch_shuffle(const cuda::RatingsOfRows& users, const std::uint8_t* exponents, RowRating* to,
                    std::uint64_t seed, cudaStream_t stream);

}  // namespace mf::sgd_tiled
