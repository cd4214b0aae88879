// Columns that lie in pieces, each with the users of one rank, joined.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/cuda/ratings/device_ratings.hpp"

namespace mf::cuda {

// Appends the ratings of each column of `piece`: `next` has the places, and is moved on. Users of
// the piece are numbered from `first_user`. Queued.
void append_columns(const RatingsOfRows& piece, std::int64_t first_user, std::int64_t* next,
                    RowRating* columns, cudaStream_t stream);

// offsets[i] += by, for `count` of them. Queued.
void shift_offsets(std::int64_t* offsets, std::int64_t count, std::int64_t by, cudaStream_t stream);

}  // namespace mf::cuda
