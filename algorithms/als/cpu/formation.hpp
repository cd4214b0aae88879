// A_u = sum theta theta^T and b_u = sum r theta of one row: the inner loops of als_cpu, one build
// per instruction set, chosen at run time.
//
// This header holds plain data only: it is included by files compiled for AVX, and an inline
// function here could be emitted with AVX code and then linked into code for every CPU.
#pragma once

#include <cstdint>

namespace mf::als::cpu {

// Rows of factors, or a block of their columns: row x starts at data + x * stride, is aligned to 64
// bytes, and is zero from `factors` to the next multiple of 16, up to which it is looked at.
struct FactorRows {
  const float* data = nullptr;
  std::int64_t stride = 0;
  std::int32_t factors = 0;
};

// Ratings of one row of R, or a part of them: at least one. If there are scales s, the rows of
// factors are multiplied by them first: A = sum s^2 theta theta^T, b = sum value s theta.
struct RowRatings {
  const std::int32_t* others = nullptr;
  const float* values = nullptr;
  std::int64_t count = 0;
  const float* scales = nullptr;

  RowRatings part(std::int64_t begin, std::int64_t end) const {
    return {others + begin, values + begin, end - begin, scales ? scales + begin : nullptr};
  }
};

// Buffers of one thread, aligned to 64 bytes. stride is `factors` rounded up to a multiple of 16,
// as in whole rows. Element (i, j) of A is a[j * stride + i]. Kernels write the elements on and
// above the diagonal, i <= j, and some others.
struct NormalEquations {
  float* a = nullptr;  // stride x stride
  float* b = nullptr;  // stride
  float* panel =
      nullptr;  // panel_rows x stride: rows of factors that are multiplied from the cache
  std::int64_t panel_rows = 0;
};

// Both sums over the ratings; overwrites A and b. fp32: summed over the rows of a panel in
// registers, then over the panels.
using FormKernel = void (*)(const FactorRows& rows, const RowRatings& ratings,
                            const NormalEquations& out);

// out = sum over k < count of weights[k] * (row k); rows of `stride` floats. For a full symmetric A
// this is A times the weights.
using WeightedSumKernel = void (*)(const float* rows, std::int64_t stride, std::int64_t count,
                                   const float* weights, float* out);

// Solves A x = b by Cholesky; A as form() leaves it, and overwritten. `scratch` has 2 * stride
// floats and is aligned to 64 bytes; b, too, has `stride` elements. False if A is not positive
// definite in fp32; x is then unchanged.
//
// With A = R R^T, R upper triangular, `noise` ~ N(0, I) (null: none) is added to z of R z = b; x of
// R^T x = z is then a draw from N(A^-1 b, A^-1). `scratch` begins with z.
using CholeskyKernel = bool (*)(float* a, std::int64_t stride, std::int32_t factors, const float* b,
                                float* x, float* scratch, const float* noise);

struct FormationKernels {
  FormKernel form = nullptr;
  WeightedSumKernel weighted_sum = nullptr;
  CholeskyKernel cholesky = nullptr;
};

// Defined in the file compiled for each instruction set.
FormationKernels scalar_formation();
FormationKernels avx2_formation();
FormationKernels avx512_formation();

}  // namespace mf::als::cpu
