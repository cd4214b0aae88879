// The kernels of iALS++ on the device: a block of at most 128 coordinates of all rows of a side.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/cumf/tasks.hpp"
#include "algorithms/ials/blocks/device_layout.hpp"

namespace mf::ials {

// Everything in device memory. Rows of x and y are `stride` floats apart.
struct BlockArgs {
  int first = 0;  // of the block's coordinates
  int count = 0;  // of them, at most kMaxBlockSize
  std::int64_t stride = 0;
  float* x = nullptr;
  const float* y = nullptr;
  const std::int32_t* others = nullptr;  // of a pair: its row of y
  const float* weights = nullptr;        // c - 1
  const float* predictions = nullptr;    // x_u . y_i
  const float* gram = nullptr;           // Y^T Y, rows of `stride`
  const float* regs = nullptr;           // l of each row
  // (G x) of the block before, how far x moved after: rows of step_stride.
  float* step = nullptr;
  std::int64_t step_stride = 0;
  const als::RowTask* tasks = nullptr;  // rows, or parts of them
  std::int64_t n_tasks = 0;
  const als::SplitRow* splits = nullptr;
  std::int64_t n_splits = 0;
  const std::int32_t* row_of_slot = nullptr;
  float* parts = nullptr;  // part_floats(count) each
};

// Newton's step of every row on the block, which is exact:
//   g = sum (w s - (1 + w)) y + G x + l x     H = sum w y y^T + G + l I     x -= H^-1 g
// of the block's coordinates, s the predictions. Queued on the stream.
void launch_block_step(const BlockArgs& args, cudaStream_t stream);

// Predictions of the pairs += rows of v times rows of y, coordinates [first, first + count) of y,
// at most kMaxBlockSize.
struct PredictArgs {
  int first = 0;
  int count = 0;
  const float* v = nullptr;  // row u at v + u * v_stride
  std::int64_t v_stride = 0;
  const float* y = nullptr;
  std::int64_t stride = 0;
  const std::int32_t* others = nullptr;
  const als::RowTask* tasks = nullptr;  // a warp each
  std::int64_t n_tasks = 0;
  float* predictions = nullptr;
};
void launch_predict(const PredictArgs& args, cudaStream_t stream);

}  // namespace mf::ials
