// The one source of the inner loops. Each formation*.cpp includes it with its own vector type S,
// which lives in that file's unnamed namespace: every instantiation is local to its file, so the
// linker can never put code of one instruction set in the place of another's.
//
// S has: Vec, kWidth (floats), kColumns (columns of a tile), and load, store, zero, set1, add, sub,
// mul, fma (a b + c) and fnma (c - a b). A tile of kColumns x 3 vectors, one row and an element
// must fit the registers.
#pragma once

#include <cstdint>

#include "algorithms/als/cpu/formation.hpp"
#include "algorithms/core/vectors.hpp"

namespace mf::als::cpu {

inline constexpr std::int64_t kLineFloats = 16;
inline constexpr int kTileVectors = 3;
inline constexpr std::int64_t kAhead = 6;  // rows between fetch and copy in the first panel

// Floats of a row that are looked at: whole cache lines.
MF_INLINE std::int64_t width_of(const FactorRows& rows) {
  return (rows.factors + kLineFloats - 1) / kLineFloats * kLineFloats;
}

MF_INLINE void prefetch_row(const FactorRows& rows, std::int32_t row) {
  const float* at = rows.data + row * rows.stride;
  for (std::int64_t i = 0; i < width_of(rows); i += kLineFloats) __builtin_prefetch(at + i, 0, 3);
}

// The rows of ratings [begin, end), one after another; kScaled: each by its scale.
template <class S, bool kScaled>
MF_INLINE void gather(const FactorRows& rows, const RowRatings& ratings, std::int64_t begin,
                      std::int64_t end, float* panel) {
  const std::int64_t width = width_of(rows);
  for (std::int64_t k = begin; k < end; ++k) {
    if (k + kAhead < end) prefetch_row(rows, ratings.others[k + kAhead]);
    const float* from = rows.data + ratings.others[k] * rows.stride;
    const auto scale = S::set1(kScaled ? ratings.scales[k] : 1.0F);
    for (std::int64_t i = 0; i < width; i += S::kWidth) {
      const auto row = S::load(from + i);
      S::store(panel + i, kScaled ? S::mul(scale, row) : row);
    }
    panel += width;
  }
}

// How a sum enters its element.
enum class Put { overwrite, add, subtract };

// Columns j to j + NC, vectors v to v + NV of A, over the rows of the panel.
template <class S, int NC, int NV>
MF_INLINE void tile(const float* panel, std::int64_t stride, std::int64_t count, std::int64_t j,
                    std::int64_t v, float* a, Put put) {
  typename S::Vec sum[NC][NV];
#pragma GCC unroll 8
  for (int c = 0; c < NC; ++c) {
#pragma GCC unroll 4
    for (int x = 0; x < NV; ++x) sum[c][x] = S::zero();
  }
  const float* left = panel + j;
  const float* top = panel + v * S::kWidth;
  for (std::int64_t k = 0; k < count; ++k) {
    typename S::Vec row[NV];
#pragma GCC unroll 4
    for (int x = 0; x < NV; ++x) row[x] = S::load(top + x * S::kWidth);
#pragma GCC unroll 8
    for (int c = 0; c < NC; ++c) {
      const auto element = S::set1(left[c]);
#pragma GCC unroll 4
      for (int x = 0; x < NV; ++x) sum[c][x] = S::fma(element, row[x], sum[c][x]);
    }
    left += stride;
    top += stride;
  }
#pragma GCC unroll 8
  for (int c = 0; c < NC; ++c) {
    float* to = a + (j + c) * stride + v * S::kWidth;
#pragma GCC unroll 4
    for (int x = 0; x < NV; ++x, to += S::kWidth) {
      if (put == Put::overwrite) S::store(to, sum[c][x]);
      if (put == Put::add) S::store(to, S::add(S::load(to), sum[c][x]));
      if (put == Put::subtract) S::store(to, S::sub(S::load(to), sum[c][x]));
    }
  }
}

// Columns j to j + NC of the upper half: down to the vector that holds the diagonal, in tiles of
// about equal height. (Of the lower half, every column would end in a vector that is partly
// padding.)
template <class S, int NC>
MF_INLINE void columns(const float* panel, std::int64_t stride, std::int64_t count, std::int64_t j,
                       float* a, Put put) {
  const std::int64_t vectors = (j + NC + S::kWidth - 1) / S::kWidth;
  std::int64_t v = 0;
  for (std::int64_t tiles = (vectors + kTileVectors - 1) / kTileVectors; tiles > 0; --tiles) {
    const std::int64_t height = (vectors - v + tiles - 1) / tiles;
    if (height == 3) tile<S, NC, 3>(panel, stride, count, j, v, a, put);
    if (height == 2) tile<S, NC, 2>(panel, stride, count, j, v, a, put);
    if (height == 1) tile<S, NC, 1>(panel, stride, count, j, v, a, put);
    v += height;
  }
}

// out[vector 0 to NV] (+)= sum weights[k] row k; two chains a vector.
template <class S, int NV>
MF_INLINE void weigh(const float* rows, std::int64_t stride, std::int64_t count,
                     const float* weights, float* out, bool first) {
  typename S::Vec sum[2][NV];
#pragma GCC unroll 4
  for (int x = 0; x < NV; ++x) sum[0][x] = sum[1][x] = S::zero();
  std::int64_t k = 0;
  for (; k + 2 <= count; k += 2, rows += 2 * stride) {
    const auto even = S::set1(weights[k]);
    const auto odd = S::set1(weights[k + 1]);
#pragma GCC unroll 4
    for (int x = 0; x < NV; ++x) {
      sum[0][x] = S::fma(even, S::load(rows + x * S::kWidth), sum[0][x]);
      sum[1][x] = S::fma(odd, S::load(rows + stride + x * S::kWidth), sum[1][x]);
    }
  }
  if (k < count) {
#pragma GCC unroll 4
    for (int x = 0; x < NV; ++x) {
      sum[0][x] = S::fma(S::set1(weights[k]), S::load(rows + x * S::kWidth), sum[0][x]);
    }
  }
#pragma GCC unroll 4
  for (int x = 0; x < NV; ++x, out += S::kWidth) {
    const auto both = S::add(sum[0][x], sum[1][x]);
    S::store(out, first ? both : S::add(S::load(out), both));
  }
}

template <class S>
MF_INLINE void weigh_all(const float* rows, std::int64_t stride, std::int64_t count,
                         const float* weights, float* out, bool first) {
  constexpr std::int64_t w = S::kWidth;
  std::int64_t i = 0;
  for (; i + 4 * w <= stride; i += 4 * w) {
    weigh<S, 4>(rows + i, stride, count, weights, out + i, first);
  }
  for (; i < stride; i += w) weigh<S, 1>(rows + i, stride, count, weights, out + i, first);
}

template <class S>
void weighted_sum(const float* rows, std::int64_t stride, std::int64_t count, const float* weights,
                  float* out) {
  weigh_all<S>(rows, stride, count, weights, out, true);
}

// While a panel is multiplied, the rows of the next are fetched, a few before each column block.
template <class S>
void form(const FactorRows& rows, const RowRatings& ratings, const NormalEquations& out) {
  const std::int64_t stride = width_of(rows);
  const std::int64_t blocks = (rows.factors + S::kColumns - 1) / S::kColumns;
  for (std::int64_t begin = 0; begin < ratings.count; begin += out.panel_rows) {
    const bool first = begin == 0;
    const Put put = first ? Put::overwrite : Put::add;
    const std::int64_t rest = ratings.count - begin;
    const std::int64_t count = rest < out.panel_rows ? rest : out.panel_rows;
    if (ratings.scales == nullptr) {
      gather<S, false>(rows, ratings, begin, begin + count, out.panel);
    } else {
      gather<S, true>(rows, ratings, begin, begin + count, out.panel);
    }
    weigh_all<S>(out.panel, stride, count, ratings.values + begin, out.b, first);
    const std::int64_t ahead_end =
        begin + 2 * count < ratings.count ? begin + 2 * count : ratings.count;
    const std::int64_t ahead_step = (count + blocks - 1) / blocks;
    std::int64_t ahead = begin + count;
    for (std::int64_t j = 0; j < rows.factors; j += S::kColumns) {
      for (std::int64_t k = 0; k < ahead_step && ahead < ahead_end; ++k, ++ahead) {
        prefetch_row(rows, ratings.others[ahead]);
      }
      if (rows.factors - j <= S::kColumns / 2) {
        columns<S, S::kColumns / 2>(out.panel, stride, count, j, out.a, put);
      } else {
        columns<S, S::kColumns>(out.panel, stride, count, j, out.a, put);
      }
    }
  }
}

}  // namespace mf::als::cpu
