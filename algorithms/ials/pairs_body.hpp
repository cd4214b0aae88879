// The one source of the inner loops, as als/cpu/formation_body.hpp is: each pairs*.cpp includes it
// with its own vector type S, which lives in that file's unnamed namespace.
//
// S has: Vec, kWidth (floats), kDense (rows of a tile of G v), kSums (sums of up to so many vectors
// stay in registers), kKept (the row and v, too), kStep (vectors of a cache line), and load, store,
// zero, set1, add, sub, fma (a b + c), fnma (c - a b) and quarter (four sums of its floats, a
// Vec4).
#pragma once

#include <cstdint>

#include "algorithms/core/vectors.hpp"
#include "algorithms/ials/pairs.hpp"

namespace mf::ials {

using Vec4 = Floats4::Vec;

inline constexpr std::int64_t kAheadPairs = 8;  // between fetch and use of a row
inline constexpr int kTogether = 4;             // rows whose products are summed together
inline constexpr int kDenseTall = 3;            // vectors of a tile of G v

enum class Coefficient { product, residual };

template <Coefficient kKind>
MF_INLINE float coefficient(const Pairs& pairs, std::int64_t k, float dot) {
  const float weight = pairs.weights[k];
  if (kKind == Coefficient::product) return weight * dot;
  const float c = pairs.unobserved != nullptr ? pairs.unobserved[pairs.others[k]] : 1.0F;
  return c + weight * (1 - dot);
}

MF_INLINE void fetch(const FactorRows& rows, std::int32_t row) {
  const float* at = rows.data + row * rows.stride;
  for (std::int64_t i = 0; i < rows.stride; i += 16) __builtin_prefetch(at + i, 0, 3);
}

// The sums of the floats of each of four, in the same order as of one.
MF_INLINE Vec4 sum4(Vec4 a, Vec4 b, Vec4 c, Vec4 d) {
  const Vec4 ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) +
                  __builtin_shufflevector(a, b, 1, 5, 3, 7);  // a01 b01 a23 b23
  const Vec4 cd =
      __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

// For one, in its first float.
MF_INLINE Vec4 sum1(Vec4 a) {
  const Vec4 pairs = a + __builtin_shufflevector(a, a, 1, 0, 3, 2);
  return pairs + __builtin_shufflevector(pairs, pairs, 2, 3, 0, 1);
}

// For rows of NV vectors, whose sums stay in registers. kTwice: so many that the row itself and v
// do not, and are read from the cache again.
template <class S, Coefficient kKind, int NV, bool kTwice>
MF_INLINE void add_pair(const float* y, const Pairs& pairs, std::int64_t k, const float* v,
                        const typename S::Vec (&own)[NV], typename S::Vec (&sums)[NV]) {
  typename S::Vec row[NV];
  typename S::Vec dot[2] = {S::zero(), S::zero()};
#pragma GCC unroll 16
  for (int x = 0; x < NV; ++x) {
    row[x] = S::load(y + x * S::kWidth);
    const auto other = kTwice ? S::load(v + x * S::kWidth) : own[x];
    dot[x % 2] = S::fma(row[x], other, dot[x % 2]);
  }
  const Vec4 total = sum1(S::quarter(S::add(dot[0], dot[1])));
  const auto c = S::set1(coefficient<kKind>(pairs, k, total[0]));
#pragma GCC unroll 16
  for (int x = 0; x < NV; ++x) {
    sums[x] = S::fma(c, kTwice ? S::load(y + x * S::kWidth) : row[x], sums[x]);
  }
}

template <class S, Coefficient kKind, int NV>
void pairs_kept(const FactorRows& rows, const Pairs& pairs, const float* v, float* sums) {
  constexpr bool kTwice = NV > S::kKept;
  typename S::Vec sum[NV], own[NV];
#pragma GCC unroll 16
  for (int x = 0; x < NV; ++x) {
    sum[x] = S::load(sums + x * S::kWidth);
    own[x] = S::load(v + x * S::kWidth);
  }
  for (std::int64_t k = 0; k < pairs.count; ++k) {
    if (k + kAheadPairs < pairs.count) fetch(rows, pairs.others[k + kAheadPairs]);
    const float* y = rows.data + pairs.others[k] * rows.stride;
    add_pair<S, kKind, NV, kTwice>(y, pairs, k, v, own, sum);
  }
#pragma GCC unroll 16
  for (int x = 0; x < NV; ++x) S::store(sums + x * S::kWidth, sum[x]);
}

// v . y_r for R of kTogether rows of any length.
template <class S, int R>
MF_INLINE Vec4 dots_of(std::int64_t width, const float* const* y, const float* v) {
  typename S::Vec dot[R][2];
  Vec4 quarters[kTogether] = {};
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) dot[r][0] = dot[r][1] = S::zero();
  std::int64_t i = 0;
  for (; i + 2 * S::kWidth <= width; i += 2 * S::kWidth) {
    const auto even = S::load(v + i);
    const auto odd = S::load(v + i + S::kWidth);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      dot[r][0] = S::fma(S::load(y[r] + i), even, dot[r][0]);
      dot[r][1] = S::fma(S::load(y[r] + i + S::kWidth), odd, dot[r][1]);
    }
  }
  if (i < width) {
    const auto even = S::load(v + i);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) dot[r][0] = S::fma(S::load(y[r] + i), even, dot[r][0]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) quarters[r] = S::quarter(S::add(dot[r][0], dot[r][1]));
  return R == 1 ? sum1(quarters[0]) : sum4(quarters[0], quarters[1], quarters[2], quarters[3]);
}

// sums += c_r y_r for R of kTogether rows of any length; sums are in memory.
template <class S, Coefficient kKind, int R>
MF_INLINE void add_long(std::int64_t stride, const float* const* y, const Pairs& pairs,
                        std::int64_t k, const float* v, float* sums) {
  const Vec4 dots = dots_of<S, R>(stride, y, v);
  typename S::Vec c[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) c[r] = S::set1(coefficient<kKind>(pairs, k + r, dots[r]));
  for (std::int64_t i = 0; i < stride; i += S::kWidth) {
    auto sum = S::load(sums + i);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) sum = S::fma(c[r], S::load(y[r] + i), sum);
    S::store(sums + i, sum);
  }
}

template <class S, Coefficient kKind>
void pairs_long(const FactorRows& rows, const Pairs& pairs, const float* v, float* sums) {
  const auto row_of = [&](std::int64_t pair) {
    return rows.data + pairs.others[pair] * rows.stride;
  };
  std::int64_t k = 0;
  for (; k + kTogether <= pairs.count; k += kTogether) {
    const float* y[kTogether];
    for (int r = 0; r < kTogether; ++r) {
      y[r] = row_of(k + r);
      if (k + r + kAheadPairs < pairs.count) fetch(rows, pairs.others[k + r + kAheadPairs]);
    }
    add_long<S, kKind, kTogether>(rows.stride, y, pairs, k, v, sums);
  }
  for (; k < pairs.count; ++k) {
    const float* y[1] = {row_of(k)};
    add_long<S, kKind, 1>(rows.stride, y, pairs, k, v, sums);
  }
}

// The loop for rows of that many vectors, NV or fewer.
template <class S, Coefficient kKind, int NV>
PairsKernel loop_for(std::int64_t vectors) {
  if constexpr (NV > 0) {
    if (vectors == NV) return pairs_kept<S, kKind, NV>;
    return loop_for<S, kKind, NV - S::kStep>(vectors);
  } else {
    return pairs_long<S, kKind>;
  }
}

template <class S, Coefficient kKind>
void add_pairs(const FactorRows& rows, const Pairs& pairs, const float* v, float* sums) {
  loop_for<S, kKind, S::kSums>(rows.stride / S::kWidth)(rows, pairs, v, sums);
}

template <class S, int R>
MF_INLINE void dots_at(const FactorRows& rows, const std::int32_t* others, std::int64_t width,
                       const float* v, float* out) {
  const float* y[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) y[r] = rows.data + others[r] * rows.stride;
  const Vec4 sums = dots_of<S, R>(width, y, v);
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) out[r] += sums[r];
}

template <class S>
void dots(const FactorRows& rows, const std::int32_t* others, std::int64_t count, const float* v,
          float* out) {
  const std::int64_t width = (rows.factors + 15) / 16 * 16;
  std::int64_t k = 0;
  for (; k + kTogether <= count; k += kTogether) {
    for (std::int64_t r = k + kAheadPairs; r < k + kAheadPairs + kTogether && r < count; ++r) {
      const float* at = rows.data + others[r] * rows.stride;
      for (std::int64_t i = 0; i < width; i += 16) __builtin_prefetch(at + i, 0, 3);
    }
    dots_at<S, kTogether>(rows, others + k, width, v, out + k);
  }
  for (; k < count; ++k) dots_at<S, 1>(rows, others + k, width, v, out + k);
}

// Vectors [i, i + NX) of G v + l v for NR rows.
template <class S, int NR, int NX>
MF_INLINE void dense_tile(const float* gram, std::int64_t stride, std::int32_t factors,
                          const float* regs, const float* v, std::int64_t i, float* out) {
  typename S::Vec sum[NR][NX];
#pragma GCC unroll 8
  for (int r = 0; r < NR; ++r) {
    const auto reg = S::set1(regs[r]);
#pragma GCC unroll 8
    for (int x = 0; x < NX; ++x) {
      sum[r][x] = S::fma(reg, S::load(v + r * stride + i + x * S::kWidth), S::zero());
    }
  }
  const float* row = gram + i;
  for (std::int64_t k = 0; k < factors; ++k, row += stride) {
    typename S::Vec g[NX];
#pragma GCC unroll 8
    for (int x = 0; x < NX; ++x) g[x] = S::load(row + x * S::kWidth);
#pragma GCC unroll 8
    for (int r = 0; r < NR; ++r) {
      const auto element = S::set1(v[r * stride + k]);
#pragma GCC unroll 8
      for (int x = 0; x < NX; ++x) sum[r][x] = S::fma(element, g[x], sum[r][x]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < NR; ++r) {
#pragma GCC unroll 8
    for (int x = 0; x < NX; ++x) S::store(out + r * stride + i + x * S::kWidth, sum[r][x]);
  }
}

template <class S, int NR, int NX>
MF_INLINE void dense_rows(const float* gram, std::int64_t stride, std::int32_t factors,
                          const float* regs, const float* v, float* out) {
  std::int64_t i = 0;
  for (; i + NX * S::kWidth <= stride; i += NX * S::kWidth) {
    dense_tile<S, NR, NX>(gram, stride, factors, regs, v, i, out);
  }
  for (; i < stride; i += S::kWidth) {
    dense_tile<S, NR, 1>(gram, stride, factors, regs, v, i, out);
  }
}

template <class S>
void dense(const float* gram, std::int64_t stride, std::int32_t factors, const float* regs,
           const float* v, std::int64_t count, float* out) {
  constexpr int kRows = S::kDense;
  for (; count >= kRows; count -= kRows) {
    dense_rows<S, kRows, kDenseTall>(gram, stride, factors, regs, v, out);
    regs += kRows, v += kRows * stride, out += kRows * stride;
  }
  for (; count > 0; --count) {
    dense_rows<S, 1, 8>(gram, stride, factors, regs, v, out);
    regs += 1, v += stride, out += stride;
  }
}

template <class S>
MF_INLINE float sum_of(typename S::Vec v) {
  const Vec4 q = S::quarter(v);
  return (q[0] + q[1]) + (q[2] + q[3]);
}

template <class S>
float cg_start(const CgRow& row, const float* sums, std::int64_t stride) {
  auto rs = S::zero();
  for (std::int64_t i = 0; i < stride; i += S::kWidth) {
    const auto r = S::sub(S::load(sums + i), S::load(row.ap + i));
    S::store(row.r + i, r);
    S::store(row.p + i, r);
    rs = S::fma(r, r, rs);
  }
  return sum_of<S>(rs);
}

template <class S>
float cg_step(const CgRow& row, float rs, std::int64_t stride) {
  auto curved = S::zero();
  for (std::int64_t i = 0; i < stride; i += S::kWidth) {
    curved = S::fma(S::load(row.p + i), S::load(row.ap + i), curved);
  }
  const float curvature = sum_of<S>(curved);
  if (curvature <= 0) return -1;  // NaN goes on into x
  const auto alpha = S::set1(rs / curvature);
  auto next = S::zero();
  for (std::int64_t i = 0; i < stride; i += S::kWidth) {
    S::store(row.x + i, S::fma(alpha, S::load(row.p + i), S::load(row.x + i)));
    const auto r = S::fnma(alpha, S::load(row.ap + i), S::load(row.r + i));
    S::store(row.r + i, r);
    next = S::fma(r, r, next);
  }
  const float rs_next = sum_of<S>(next);
  if (rs_next == 0) return -1;
  const auto beta = S::set1(rs_next / rs);
  for (std::int64_t i = 0; i < stride; i += S::kWidth) {
    S::store(row.p + i, S::fma(beta, S::load(row.p + i), S::load(row.r + i)));
  }
  return rs_next;
}

template <class S>
void move(float* from, float* to, std::int64_t stride) {
  for (std::int64_t i = 0; i < stride; i += S::kWidth) {
    S::store(to + i, S::add(S::load(to + i), S::load(from + i)));
    S::store(from + i, S::zero());
  }
}

template <class S>
PairKernels kernels_of() {
  return {add_pairs<S, Coefficient::product>,
          add_pairs<S, Coefficient::residual>,
          dense<S>,
          cg_start<S>,
          cg_step<S>,
          move<S>,
          dots<S>};
}

}  // namespace mf::ials
