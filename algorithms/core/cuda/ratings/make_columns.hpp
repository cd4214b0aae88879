// Columns of R from its rows, on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"

namespace mf::cuda {

struct DeviceColumns {
  DeviceBuffer<std::int64_t> offsets;  // n_items + 1
  DeviceBuffer<RowRating> ratings;     // by item, then by user
};

// `at_once` ratings are sorted at a time, fewer than 2^31.
DeviceColumns make_columns(const RatingsOfRows& rows, std::int64_t n_items, std::int64_t at_once,
                           cudaStream_t stream);

// counts[i] = ratings of item i. Queued.
void count_items(const RatingsOfRows& rows, std::int64_t* counts, std::int64_t n_items,
                 cudaStream_t stream);

// counts[x] = offsets[x + 1] - offsets[x]. Queued.
void count_rows(const std::int64_t* offsets, std::int64_t* counts, std::int64_t rows,
                cudaStream_t stream);

// How many of the counts are not 0. Waits.
std::int64_t count_positive(const std::int64_t* counts, std::int64_t count, cudaStream_t stream);

// How many rows have ratings. Waits.
std::int64_t count_rated_rows(const std::int64_t* offsets, std::int64_t rows, cudaStream_t stream);

}  // namespace mf::cuda
