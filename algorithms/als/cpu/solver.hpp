// A x = b of one row.
#pragma once

#include <cstdint>

#include "algorithms/als/cpu/formation.hpp"
#include "algorithms/als/settings.hpp"
#include "base/aligned.hpp"

namespace mf::als::cpu {

// For one thread: it has buffers.
class RowSolver {
 public:
  RowSolver(Solver solver, const CgRule& rule, std::int32_t factors, std::int64_t stride,
            const FormationKernels& kernels);

  // A as form() leaves it (its upper half, `stride` floats from one column to the next), aligned to
  // 64 bytes; it is overwritten. x holds the last row, from which CG starts, and gets the new one;
  // it may be NaN or infinite if A is singular. False if Cholesky finds that A is not positive
  // definite in fp32; x is then as it was.
  bool solve(float* a, const float* b, float* x);

 private:
  void lu(float* a, const float* b, float* x) const;
  void cg(float* a, const float* b, float* x);

  Solver solver_;
  CgRule rule_;
  std::int32_t factors_;
  std::int64_t stride_;
  FormationKernels kernels_;
  AlignedVector<float> scratch_;
};

}  // namespace mf::als::cpu
