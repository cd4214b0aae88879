// Solves the systems A_u x_u = b_u of a batch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "algorithms/als/cg.hpp"
#include "algorithms/als/cumf/matrix.hpp"
#include "algorithms/core/cuda/memory.hpp"

namespace mf::als {

// Everything in device memory. System s is the row rows[s] of x.
struct Systems {
  std::int32_t factors = 0;
  std::int64_t count = 0;
  const std::int32_t* rows = nullptr;
  AStorage storage = AStorage::fp32;
  void* a = nullptr;             // as HermitianArgs::a
  const float* scale = nullptr;  // fp16
  float* b = nullptr;            // vectors of whole 16-byte words (row_stride)
  float* x = nullptr;            // out; rows likewise, zero beyond the factors
};

class BatchSolver {
 public:
  virtual ~BatchSolver() = default;
  // Queued on the stream. May overwrite A and b.
  virtual void solve(const Systems& systems, cudaStream_t stream) = 0;
};

// cuBLAS, without pivoting: A is symmetric and positive definite. Overwrites A and b. `a` and `b`
// are the buffers of all its systems, of at most `capacity` rows.
std::unique_ptr<BatchSolver> make_lu_solver(std::int32_t factors, std::int64_t capacity, float* a,
                                            float* b, cudaStream_t stream);
// cuSOLVER. Overwrites A and b.
std::unique_ptr<BatchSolver> make_cholesky_solver(std::int32_t factors, std::int64_t capacity,
                                                  float* a, float* b, cudaStream_t stream);
// x holds the start. through_l1: A is read through the L1 cache (the paper's figure 5).
std::unique_ptr<BatchSolver> make_cg_solver(const CgRule& rule, bool through_l1);

// Pointers for the libraries' batched routines: to the fp32 matrix and the right-hand side of each
// of `capacity` systems. Filled on the stream.
struct SystemPointers {
  SystemPointers(std::int32_t factors, std::int64_t capacity, float* first_a, float* first_b,
                 cudaStream_t stream);

  cuda::DeviceBuffer<float*> a, b;
};

// Row rows[s] of x = vector s of b; NaN if info[s] says that A could not be factorised, so that the
// case ends as diverged and not with meaningless numbers.
void launch_scatter(const Systems& systems, const int* info, cudaStream_t stream);

// The libraries take batches as int, and some put them into a dimension of the grid.
constexpr std::int64_t kMostAtOnce = 32768;

}  // namespace mf::als
