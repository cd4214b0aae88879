// get_hermitian: A_u = sum theta_v theta_v^T + lambda n_u^e I, for a batch of rows; or, with
// weights (implicit feedback), A_u = base + sum w_uv theta_v theta_v^T + lambda n_u^e I.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/cumf/matrix.hpp"
#include "algorithms/als/cumf/tasks.hpp"

namespace mf::als {

// Everything in device memory.
struct HermitianArgs {
  std::int32_t factors = 0;
  float reg = 0;
  float reg_power = 1;
  const float* theta =
      nullptr;  // rows of `stride` floats, 16-byte aligned, zero beyond the factors
  std::int64_t stride = 0;
  const std::int32_t* others = nullptr;  // of all ratings of the side
  const RowTask* tasks = nullptr;
  std::int64_t n_tasks = 0;
  const SplitRow* splits = nullptr;
  std::int64_t n_splits = 0;
  // Out: matrix `slot` at a + slot * a_values, symmetric, both halves; rows of a_pitch.
  AStorage storage = AStorage::fp32;
  void* a = nullptr;
  float* scale = nullptr;      // fp16: A = scale[slot] * stored value; a power of two
  float* parts = nullptr;      // of split rows, fp32 matrices
  std::int64_t part_step = 1;  // matrices from one part of a row to the next
  // Both or neither; only fp32, and rows are then loaded as noncoalesced_l1 does.
  const float* weights = nullptr;  // of all ratings of the side, not negative
  const float* base = nullptr;     // a matrix stored as A is, added to each
};

// The part of the kernel to run: partial runs are for measuring (the paper's figure 4), with at
// most kMostTiledFactors.
enum class HermitianPart {
  all,
  load,          // only into shared memory
  compute,       // without loads: the first bin, as often as the row has bins
  load_compute,  // without writing A
};

// More than kMostTiledFactors are loaded in one way.
void launch_hermitian(const HermitianArgs& args, Load load, cudaStream_t stream,
                      HermitianPart part = HermitianPart::all);

// Adds only the parts of split rows, which launch_hermitian does last.
void launch_add_parts(const HermitianArgs& args, cudaStream_t stream);

// Only the tasks, without adding parts: a source each, which CMakeLists.txt makes of
// hermitian_load.cu.in.
template <Load kLoad>
void launch_load(const HermitianArgs& args, HermitianPart part, cudaStream_t stream);
void launch_weighted(const HermitianArgs& args, HermitianPart part, cudaStream_t stream);
// For more than kMostTiledFactors, with weights or without (wide.cu).
void launch_wide(const HermitianArgs& args, cudaStream_t stream);

}  // namespace mf::als
