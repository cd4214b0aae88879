// One diagonal of blocks on the device, a thread block a matrix block.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/sgd/sgd_rule.hpp"
#include "algorithms/gpusgd/settings.hpp"
#include "datasets/ratings/rating.hpp"

namespace mf::gpusgd {

// Everything in device memory. Rows of P and Q are `stride` elements apart, 16-byte aligned, zero
// beyond the factors.
template <class Real>
struct Arrays {
  std::int32_t factors = 0;
  std::int32_t blocks = 0;
  std::int64_t stride = 0;
  const Rating* ratings = nullptr;             // DeviceArrangement::ratings
  const std::int64_t* offsets = nullptr;       // DeviceArrangement::offsets
  const std::int64_t* first_group = nullptr;   // DeviceArrangement::first_group
  const std::int64_t* group_begins = nullptr;  // DeviceArrangement::group_begins
  const sgd::Step<Real>* step = nullptr;       // read when the kernel runs
  Real* p = nullptr;
  Real* q = nullptr;
};

// Real is float or double.
template <class Real>
void launch_diagonal(const Settings& settings, const Arrays<Real>& arrays, std::int32_t tag,
                     cudaStream_t stream);

}  // namespace mf::gpusgd
