// The small kernels of Whitening: f x f matrices by columns.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace mf::ials {

// gram = sum of the parts, and reg on the diagonal; inverse = I. A thread an element: 4 f^2 bytes
// a part read.
void launch_sum_gram(const float* parts, std::int64_t count, std::int32_t factors, double reg,
                     double* gram, double* inverse, cudaStream_t stream);

// For lower triangles: start = start_scale L, t = T, zero above the diagonal. *failed = *info where
// that is not zero.
void launch_round_factors(const double* l, const double* t, double start_scale,
                          std::int32_t factors, const int* info, float* start, float* to,
                          int* failed, cudaStream_t stream);

}  // namespace mf::ials
