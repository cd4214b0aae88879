// Inner loops over observed pairs: of CG without A, A v = G v + l v + sum w y (y . v), and the
// products of iALS++. Light, as sources with other instruction sets include it.
#pragma once

#include <cstdint>

#include "algorithms/als/cpu/formation.hpp"

namespace mf {
enum class Isa;
}

namespace mf::ials {

using als::cpu::FactorRows;

// Observed pairs of one row, or a part of them.
struct Pairs {
  const std::int32_t* others = nullptr;
  const float* weights = nullptr;
  std::int64_t count = 0;
  const float* unobserved = nullptr;  // c of each row of `rows`; null: 1
};

// sums += sum over the pairs, in order, of c y; y is the pair's row of `rows`. All vectors have
// rows.stride floats and are aligned to 64 bytes. Cutting the pairs into several calls changes no
// bit.
//   product:   c = w (y . v)            the part of A v
//   residual:  c = c_i + w (1 - y . v)  b minus that part; c_i by `unobserved`
using PairsKernel = void (*)(const FactorRows& rows, const Pairs& pairs, const float* v,
                             float* sums);

// out_r = G v_r + regs[r] v_r for `count` vectors v_r at v + r * stride, out_r likewise. G is full,
// `stride` floats a row.
using DenseKernel = void (*)(const float* gram, std::int64_t stride, std::int32_t factors,
                             const float* regs, const float* v, std::int64_t count, float* out);

// One row's vectors of `stride` floats.
struct CgRow {
  float* x;
  float* r;
  float* p;
  float* ap;
};

// r = sums - ap, p = r. Returns r . r.
using CgStartKernel = float (*)(const CgRow& row, const float* sums, std::int64_t stride);

// A step of als/cg.hpp, given ap = A p and rs = r . r: x, r and p of the next one. Returns the new
// r . r, or -1 if p.Ap is not positive or the new r . r is 0 (the row is as good as it gets).
using CgStepKernel = float (*)(const CgRow& row, float rs, std::int64_t stride);

// to += from; from = 0.
using MoveKernel = void (*)(float* from, float* to, std::int64_t stride);

// out[k] += v . (row others[k] of `rows`). For rows.factors columns, up to whole cache lines: rows
// and v are zero there, or the columns are a block's (blocks/NOTES.md).
using DotsKernel = void (*)(const FactorRows& rows, const std::int32_t* others, std::int64_t count,
                            const float* v, float* out);

struct PairKernels {
  PairsKernel product = nullptr;
  PairsKernel residual = nullptr;
  DenseKernel dense = nullptr;
  CgStartKernel start = nullptr;
  CgStepKernel step = nullptr;
  MoveKernel move = nullptr;
  DotsKernel dots = nullptr;
};

PairKernels pair_kernels(Isa isa);

// Defined in the file compiled for each instruction set.
PairKernels scalar_pairs();
PairKernels avx2_pairs();
PairKernels avx512_pairs();

}  // namespace mf::ials
