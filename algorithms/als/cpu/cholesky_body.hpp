// A x = b by A = R R^T with R upper triangular: R z = b, then R^T x = z; in blocks of NC =
// S::kColumns columns, from the last to the first, so that only the upper half of A is read. The
// columns right of a block are subtracted from it by the tiles of formation_body.hpp: A minus a sum
// of outer products, as A is a sum of them.
//
// Element (i, j) is a[j * stride + i]. The vector with a diagonal element also holds elements below
// it. There they hold elements of R, zero up to rounding, which no other element reads.
#pragma once

#include "algorithms/als/cpu/formation_body.hpp"

namespace mf::als::cpu {

// The diagonal block of R above its diagonal, and the reciprocals that its columns are multiplied
// by. Zero beyond the factors.
template <int NC>
struct DiagonalBlock {
  float r[NC][NC] = {};
  float inverse[NC] = {};
};

// Vectors of rows 0 to the end of the block that begins at column j.
template <class S>
MF_INLINE std::int64_t vectors_to(std::int64_t j) {
  return (j + S::kColumns + S::kWidth - 1) / S::kWidth;
}

template <int NC>
MF_INLINE int block_width(std::int64_t factors, std::int64_t j) {
  return factors - j < NC ? static_cast<int>(factors - j) : NC;
}

template <int NC>
MF_INLINE bool factor_diagonal(const float* a, std::int64_t stride, std::int64_t j, int width,
                               DiagonalBlock<NC>& block) {
  for (int c = width - 1; c >= 0; --c) {
    for (int i = c; i >= 0; --i) {
      float sum = a[(j + c) * stride + j + i];
      for (int p = c + 1; p < width; ++p) sum -= block.r[i][p] * block.r[c][p];
      if (i < c) {
        block.r[i][c] = sum * block.inverse[c];
      } else {
        if (!(sum > 0)) return false;
        block.inverse[c] = 1 / __builtin_sqrtf(sum);
      }
    }
  }
  return true;
}

// Columns j to j + NC of R, from the columns of A: each row is divided by the diagonal block.
template <class S, int NC>
MF_INLINE void divide_columns(float* a, std::int64_t stride, std::int64_t j,
                              const DiagonalBlock<NC>& block) {
  for (std::int64_t v = 0; v < vectors_to<S>(j); ++v) {
    float* at = a + j * stride + v * S::kWidth;
    typename S::Vec column[NC];
#pragma GCC unroll 8
    for (int c = NC - 1; c >= 0; --c) {
      auto value = S::load(at + c * stride);
#pragma GCC unroll 8
      for (int p = c + 1; p < NC; ++p) value = S::fnma(S::set1(block.r[c][p]), column[p], value);
      column[c] = S::mul(value, S::set1(block.inverse[c]));
      S::store(at + c * stride, column[c]);
    }
  }
}

// z of R z = b; b is used up.
template <class S, int NC>
MF_INLINE void solve_upper(const float* a, std::int64_t stride, std::int64_t factors, float* b,
                           float* z) {
  for (std::int64_t j = (factors - 1) / NC * NC; j >= 0; j -= NC) {
    float now[NC] = {};
    const int width = block_width<NC>(factors, j);
    for (int c = width - 1; c >= 0; --c) {
      float sum = b[j + c];
      for (int p = c + 1; p < width; ++p) sum -= a[(j + p) * stride + j + c] * now[p];
      z[j + c] = now[c] = sum / a[(j + c) * stride + j + c];
    }
    for (std::int64_t v = 0; v < vectors_to<S>(j); ++v) {
      auto rest = S::load(b + v * S::kWidth);
#pragma GCC unroll 8
      for (int c = 0; c < NC; ++c) {
        rest = S::fnma(S::set1(now[c]), S::load(a + (j + c) * stride + v * S::kWidth), rest);
      }
      S::store(b + v * S::kWidth, rest);
    }
  }
}

// x of R^T x = z; x is zero before, in all its vectors.
template <class S, int NC>
MF_INLINE void solve_transposed(const float* a, std::int64_t stride, std::int64_t factors,
                                const float* z, float* x) {
  for (std::int64_t j = 0; j < factors; j += NC) {
    typename S::Vec sum[NC];
#pragma GCC unroll 8
    for (int c = 0; c < NC; ++c) sum[c] = S::zero();
    for (std::int64_t v = 0; v < vectors_to<S>(j); ++v) {
      const auto known = S::load(x + v * S::kWidth);
#pragma GCC unroll 8
      for (int c = 0; c < NC; ++c) {
        sum[c] = S::fma(S::load(a + (j + c) * stride + v * S::kWidth), known, sum[c]);
      }
    }
    const int width = block_width<NC>(factors, j);
    for (int c = 0; c < width; ++c) {
      alignas(64) float lanes[S::kWidth];
      S::store(lanes, sum[c]);
      float rest = z[j + c];
      for (int i = 0; i < S::kWidth; ++i) rest -= lanes[i];
      for (int i = 0; i < c; ++i) rest -= a[(j + c) * stride + j + i] * x[j + i];
      x[j + c] = rest / a[(j + c) * stride + j + c];
    }
  }
}

template <class S>
bool cholesky(float* a, std::int64_t stride, std::int32_t factors, const float* b, float* x,
              float* scratch, const float* noise) {
  constexpr int kColumns = S::kColumns;
  for (std::int64_t j = (factors - 1) / kColumns * kColumns; j >= 0; j -= kColumns) {
    const std::int64_t right = factors - (j + kColumns);
    if (right > 0) {
      columns<S, kColumns>(a + (j + kColumns) * stride, stride, right, j, a, Put::subtract);
    }
    DiagonalBlock<kColumns> block;
    if (!factor_diagonal(a, stride, j, block_width<kColumns>(factors, j), block)) return false;
    divide_columns<S, kColumns>(a, stride, j, block);
  }
  float* z = scratch;
  float* rest = scratch + stride;
  for (std::int64_t i = 0; i < stride; ++i) rest[i] = b[i];
  solve_upper<S, kColumns>(a, stride, factors, rest, z);
  for (std::int64_t i = 0; noise != nullptr && i < factors; ++i) z[i] += noise[i];
  for (std::int64_t i = 0; i < stride; ++i) rest[i] = 0;
  solve_transposed<S, kColumns>(a, stride, factors, z, rest);
  for (std::int64_t i = 0; i < factors; ++i) x[i] = rest[i];
  return true;
}

}  // namespace mf::als::cpu
