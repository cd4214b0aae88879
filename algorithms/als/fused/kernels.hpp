// The kernel of als_fused: A_u and b_u on the tensor cores, and CG on them in place.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/fused/layout.hpp"
#include "base/host_device.hpp"

namespace mf::als {

// Rows of fp16 words, fused_stride(factors) apart, zero beyond the factors. The second word of
// fp16x2, or null: a factor is high + low.
struct NarrowRows {
  __half* high = nullptr;
  __half* low = nullptr;
};

// A rating as the kernel reads it: its nearest fp16 word (the low half of `rating`) and the rest's
// (the high half). No RowRating: the words go to the tensor cores unchanged, and are made once.
// Ratings beyond fp16's range, 65504, are infinite here.
struct FusedEntry {
  std::int32_t other;  // index on the other side
  std::uint32_t rating;
};
MF_HD FusedEntry fused_entry(std::int32_t other, float value) {
  const __half high = __float2half_rn(value);
  const __half low = __float2half_rn(value - __half2float(high));
  return {other, static_cast<std::uint32_t>(__half_as_ushort(high)) |
                     static_cast<std::uint32_t>(__half_as_ushort(low)) << 16};
}

// One half-step. Every pointer is to device memory.
struct FusedSide {
  const FusedTask* tasks = nullptr;
  std::int64_t n_tasks = 0;
  const FusedEntry* entries = nullptr;  // nnz
  NarrowRows from;                      // the other side's rows
  NarrowRows to;                        // this side's, written
  // This side's in fp32, zero beyond the factors: read for the warm start, written. The stride is a
  // multiple of 4.
  float* rows = nullptr;
  std::int64_t rows_stride = 0;
  std::uint32_t* next = nullptr;     // one word, for the tasks' counter
  float* scratch = nullptr;          // slots x fused_slot_floats()
  std::uint32_t* arrived = nullptr;  // slots; zero, and zero again afterwards
  // For tests: every task leaves its sums in its slot, and nothing is solved.
  bool keep = false;
};

struct FusedRule {
  std::int32_t factors = 0;
  float reg = 0;
  float reg_power = 1;
  std::int32_t steps = 0;  // 0: only the residual of the warm start (for benchmarks)
  float tolerance = 0;
  // The system is solved in its own scale (scale.hpp): the row's last value is multiplied by
  // `down`, the solution by `up`, both powers of two.
  float down = 1;
  float up = 1;
  bool group = false;  // group.hpp's kernel, if it takes such rows
  // Of weighted kernels: b = sum (w + beside) theta. A number of fp16, twice.
  std::uint32_t beside = 0;
};

// FusedRule::group for this device.
bool group_products(FusedProducts wanted, FusedPrecision precision, std::int32_t factors);

// Floats that one part of a split row leaves in the scratch memory.
std::int64_t fused_slot_floats(FusedPrecision precision, const FusedRule& rule);

// Queues the half-step, with as many block rows as the factors need.
void launch_fused(FusedPrecision precision, const FusedRule& rule, const FusedSide& side,
                  cudaStream_t stream);

// The same, compiled for that many block rows, and for one word or two: a source each, which
// CMakeLists.txt makes of kernel.cu.in.
template <int Tiles, bool TwoWords>
void launch_tiles(const FusedRule& rule, const FusedSide& side, cudaStream_t stream);

// The kernel whose ratings are weights w, for any number of factors that the block rows hold:
//   (sum w theta theta^T + reg row_count^reg_power I) x = sum (w + beside) theta
// Instantiated by ials_fused, which has its numbers of block rows.
template <int Tiles, bool TwoWords>
void launch_weighted_tiles(const FusedRule& rule, const FusedSide& side, cudaStream_t stream);

// Rounds fp32 rows, times `scale`, to NarrowRows.
void narrow(const float* rows, std::int64_t rows_stride, float scale, NarrowRows to,
            std::int64_t count, std::int32_t factors, cudaStream_t stream);

}  // namespace mf::als
