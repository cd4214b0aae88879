// The kernels of ease. Symmetric n x n matrices keep element (i, j), i <= j, at [i n + j].
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/cuda/ratings/device_ratings.hpp"

namespace mf::baseline {

// sums += X^T X, by the rows of X. Queued.
void launch_gram(const cuda::RatingsOfRows& users, std::int64_t n_items, float* sums,
                 cudaStream_t stream);

// x_ii += value + share x_ii of a matrix whose rows are `stride` apart. Queued.
void launch_add_diagonal(float* x, std::int64_t stride, std::int64_t n, float value,
                         cudaStream_t stream, float share = 0);

// All of B, row after row, in place of P or -P whose diagonal is given. Queued.
void launch_weights(float* p, const float* diagonal, std::int64_t n, cudaStream_t stream);

}  // namespace mf::baseline
