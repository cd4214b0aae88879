// An epoch on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/bpr/settings.hpp"

namespace mf::bpr {

// Everything in device memory. Rows of P and Q are storage_stride values of the storage type, zero
// beyond the factors, 16-byte aligned.
struct Arrays {
  Pairs pairs;
  void* p = nullptr;
  void* q = nullptr;
};

struct Pass {
  const Settings& settings;
  Arrays arrays;
  sgd::Step<float> step;
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t workers = 0;  // most groups of lanes at work at once, rounded to whole warps
  cudaStream_t stream = nullptr;
};

// Queued.
void launch_epoch(const Pass& pass);

// Element 0 of all rows. Queued.
void set_first(Storage storage, std::int32_t factors, void* rows, std::int64_t count, float value,
               cudaStream_t stream);

// Scales rows of fp32 to length 1, but leaves rows of zeros; in place if `to` is `from`. Queued.
void unit_rows(const float* from, std::int64_t stride, std::int64_t count, float* to,
               cudaStream_t stream);

}  // namespace mf::bpr
