// get_bias: b_u = sum r_uv theta_v, for a batch of rows; of weights (implicit feedback)
// b_u = sum (1 + w_uv) theta_v.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/cumf/tasks.hpp"

namespace mf::als {

// Everything in device memory.
struct BiasArgs {
  std::int32_t factors = 0;
  const float* theta =
      nullptr;  // rows of `stride` floats, 16-byte aligned, zero beyond the factors
  std::int64_t stride = 0;
  const std::int32_t* others = nullptr;  // of all ratings of the side
  const float* values = nullptr;
  const RowTask* tasks = nullptr;
  std::int64_t n_tasks = 0;
  const SplitRow* splits = nullptr;
  std::int64_t n_splits = 0;
  float* b = nullptr;          // out: vector `slot` at b + slot * stride, zero beyond the factors
  float* parts = nullptr;      // of split rows, vectors of `stride`
  std::int64_t part_step = 1;  // vectors from one part of a row to the next
  bool weights = false;        // `values` are weights
};

void launch_bias(const BiasArgs& args, cudaStream_t stream);

// Adds only the parts of split rows, which launch_bias does last.
void launch_add_parts(const BiasArgs& args, cudaStream_t stream);

}  // namespace mf::als
