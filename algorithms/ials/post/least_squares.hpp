// Rows of X by steps of conjugate gradients, A applied and never formed: the post's
// least_squares_cg_kernel.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/ials/post/variants.hpp"

namespace mf::ials {

// Everything in device memory. Rows of x and y are `stride` floats apart, 16-byte aligned, zero
// beyond the factors; the Gram matrix's likewise, its diagonal regularized.
struct LeastSquaresArgs {
  std::int32_t factors = 0;
  std::int64_t stride = 0;
  std::int64_t rows = 0;
  float* x = nullptr;  // the start of CG; out
  const float* y = nullptr;
  const float* gram = nullptr;
  const std::int64_t* offsets = nullptr;  // rows + 1
  const std::int32_t* others = nullptr;   // of a pair: its row of y
  const float* weights = nullptr;         // c - 1
  int cg_steps = 3;
};

// Rows without pairs stay unchanged. Queued on the stream.
void launch_least_squares(const LeastSquaresArgs& args, const LeastSquaresVariant& variant,
                          cudaStream_t stream);

// Only Dot::warp (warp_kernel.cu).
void launch_warp_least_squares(const LeastSquaresArgs& args, std::int64_t blocks,
                               cudaStream_t stream);

}  // namespace mf::ials
