// One side of R as the kernels of als read it, made on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/device_center.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/cuda/ratings/rank_ratings.hpp"

namespace mf::als {

struct SplitSide {
  cuda::DeviceBuffer<std::int32_t> others;
  cuda::DeviceBuffer<float> values;
  // Borrowed: rows + 1 in device memory.
  const std::int64_t* offsets = nullptr;
  std::int64_t rows = 0;
  std::int64_t first_row = 0;  // among all rows; over ranks a side has one rank's rows
};

struct SplitSides {
  SplitSide users, items;
};

// others[i] and values[i] of rating i of the rows, the center removed. `of_users`: rows are users.
// Queued. Shares the offsets of `rows`.
SplitSide split_side(const cuda::RatingsOfRows& rows, bool of_users, const DeviceResidual& center,
                     cudaStream_t stream);
// Adds old_bias[other] - bias[other] to each of the nnz values. Queued.
void change_bias(const std::int32_t* others, float* values, std::int64_t nnz, const float* old_bias,
                 const float* bias, cudaStream_t stream);
// Both sides of R, which is released. Queued.
SplitSides split_sides(cuda::DeviceRatings& ratings, const DeviceResidual& center,
                       cudaStream_t stream);

// For a rank: its rows of both. All ranks together.
SplitSides split_sides(cuda::RankRatings& ratings, const DeviceResidual& center,
                       cudaStream_t stream);

// For a rank that forms a part of every row: all users with the ratings of its items, all items
// with the ratings of its users. `others` are numbers among its own. Owns the offsets of both
// sides.
struct ReducedSides {
  SplitSides sides;
  cuda::DeviceBuffer<std::int64_t> user_offsets, item_offsets;
};
// All ranks together. Waits for the stream.
ReducedSides reduced_sides(cuda::RankRatings& ratings, std::int64_t n_users,
                           const DeviceResidual& center, cudaStream_t stream);

}  // namespace mf::als
