// One diagonal of blocks on the device, a thread block a matrix block.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/gpusgd/rule.hpp"
#include "algorithms/gpusgd/settings.hpp"

namespace mf::gpusgd {

// Everything in device memory. Rows of P and Q are row_stride elements, 16-byte aligned, zero
// beyond the factors. Biases are null for the plain model.
template <class Real>
struct Arrays {
  std::int32_t factors = 0;
  std::int32_t blocks = 0;
  std::int64_t stride = 0;
  const Rating* ratings = nullptr;             // Partition::ratings
  const std::int64_t* offsets = nullptr;       // Partition::offsets
  const std::int64_t* first_group = nullptr;   // Groups::first
  const std::int64_t* group_begins = nullptr;  // Groups::begins
  const Hyper<Real>* hyper = nullptr;          // read when the kernel runs
  Real* p = nullptr;
  Real* q = nullptr;
  Real* user_bias = nullptr;
  Real* item_bias = nullptr;
};

// Scheme::tree: threads >= factors, whole warps, at most 1024. Real is float or double.
template <class Real>
void launch_diagonal(Scheme scheme, bool biased, int threads, const Arrays<Real>& arrays,
                     std::int32_t tag, cudaStream_t stream);

// to[i] = from[i], rounded.
void launch_narrow(const double* from, float* to, std::int64_t count, cudaStream_t stream);

}  // namespace mf::gpusgd
