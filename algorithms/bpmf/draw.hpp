// The conditionals of rows on the device, drawn from the sums that als_fused's kernel leaves, and
// the first rows.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "algorithms/als/fused/kernels.hpp"
#include "algorithms/bpmf/settings.hpp"

namespace mf::bpmf {

// The layout of the sums of a row's parts: slots of the fused kernel. Lane l has element e of a
// block of A at its offset + e * threads + l (Accumulators of als/fused/shape.cuh).
struct SlotLayout {
  static constexpr int kMostBlocks = 16 * 17 / 2;
  struct Block {
    std::int32_t offset;
    std::int16_t row, column;
  };

  std::int32_t tiles = 0;
  std::int32_t threads = 0;    // of the block that wrote them
  std::int64_t floats = 0;     // of a slot
  bool rating_in_row = false;  // b is rows 8 and 9 of the last block row; else
  std::int32_t b_offset[16];   // of a block row
  Block blocks[kMostBlocks];   // row by row

  static SlotLayout of(als::FusedPrecision precision, const als::FusedRule& rule);
};

// Lambda as a slot holds an A, with ones on the diagonal beyond the `size` numbers of a row.
std::vector<float> in_slot(const SlotLayout& layout, const std::vector<float>& precision,
                           std::int64_t size);

struct DrawnRows {
  const als::FusedTask* tasks = nullptr;  // one a row; its slots begin at first_slot
  std::int64_t count = 0;
  const float* slots = nullptr;
  // Rows (x, 1, b), `stride` apart, and their words: written but for the 1.
  float* rows = nullptr;
  std::int64_t stride = 0;
  als::NarrowRows narrow;
  std::int64_t narrow_stride = 0;
  float* residuals = nullptr;  // as RowDraw's, by the row's number; or null: not wanted
};

// The prior of the rows, in device memory, and the other inputs of their draw.
struct DrawRule {
  const float* in_slot = nullptr;
  const float* precision = nullptr;  // as RowPrior has both
  const float* shift = nullptr;
  float alpha = 0;
  std::uint64_t key = 0;
};

std::size_t draw_shared_bytes(std::int32_t tiles);

// Queued.
void launch_draw(const SlotLayout& layout, const RowColumns& columns, const DrawRule& rule,
                 const DrawnRows& rows, cudaStream_t stream);

// A 1 into each of `count` rows that has ratings; the others are zero before, and stay it.
void launch_ones(const std::int64_t* offsets, std::int64_t count, float* rows, std::int64_t stride,
                 std::int32_t column, cudaStream_t stream);

}  // namespace mf::bpmf
