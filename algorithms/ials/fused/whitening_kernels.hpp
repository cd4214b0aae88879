// The small kernels of Whitening: f x f matrices by columns.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace mf::ials {

// A Gram matrix: the chunks' matrices, and rows outside of them, `stride` floats apart.
struct GramParts {
  const float* sums;
  std::int64_t count;
  const float* rows;
  std::int64_t rest;
  std::int64_t stride;
};

// gram = the sum of it all, and reg on the diagonal; inverse = I. 4 f^2 bytes a part read.
void launch_sum_gram(const GramParts& parts, std::int32_t factors, double reg, double* gram,
                     double* inverse, cudaStream_t stream);

// For lower triangles: start = start_scale L, t = T, zero above the diagonal. *failed = *info if
// that is not zero.
void launch_round_factors(const double* l, const double* t, double start_scale,
                          std::int32_t factors, const int* info, float* start, float* to,
                          int* failed, cudaStream_t stream);

}  // namespace mf::ials
