// Rows of factors in fp16, for a product on tensor cores, and a bound on the error of its scores.
//
// A row x is scaled by 2^e, such that |x| is below 2^8 for a user and 2^7 for an item: no score
// leaves the range of fp16. Users have an exponent each, which does not change their order; all
// items share one. For rows y in fp16
//   |<x_u, x_i> - <y_u, y_i>| <= |x_u - y_u| |x_i| + |y_u| |x_i - y_i|
// with |x_i - y_i| <= r |x_i| + sqrt(width) 2^-25 for all items: below the normal numbers of fp16,
// a number is off by 2^-25 at most. Sums of products in fp32, on tensor cores or not, add width
// 2^-22 |x_u| |x_i| at most. So the bound is a |x_i| + b, with a and b of the user.
#pragma once

#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>

#include "harness/evaluate/device/device_quality.hpp"

namespace mf {

inline constexpr int kNarrowThreads = 256;
inline constexpr int kUserExponent = 8, kItemExponent = 7;
inline constexpr std::uint32_t kInfinityBits = 0x7f800000U;

// `factors` numbers a row, and one more if there are `extra`.
struct RowSource {
  const float* rows = nullptr;
  std::int64_t stride = 0;
  std::int32_t factors = 0;
  const std::int32_t* places = nullptr;  // of each row: RankedRow; null: row r is the r-th
  const float* folded = nullptr;
  const float* extra = nullptr;

  struct Row {
    const float* numbers;  // null: zeros
    std::int32_t factors;
    float extra;

    // For k < width().
    __device__ float operator[](std::int32_t k) const {
      if (k == factors) return extra;
      return numbers == nullptr ? 0 : numbers[k];
    }
  };

  MF_HD std::int32_t width() const { return factors + (extra == nullptr ? 0 : 1); }
  __device__ Row operator[](std::int64_t r) const {
    const std::int64_t place = places == nullptr ? r : places[r];
    const float last = extra == nullptr ? 0 : extra[r];
    if (place >= 0) return {rows + place * stride, factors, last};
    if (place == RankedRow::kNone) return {nullptr, factors, last};
    return {folded + RankedRow::slot_of(static_cast<std::int32_t>(place)) * std::int64_t{factors},
            factors, last};
  }
};

// Of all items: bits of floats that are not negative, which rise with them. They start at 0.
struct ItemFacts {
  std::uint32_t most, norm;  // of the numbers' sizes; of rows, scaled
  std::uint32_t ratio;       // r
};

template <class T, class Op>
__device__ T warp_all(T x, Op&& op) {
  for (int other = 16; other > 0; other /= 2) x = op(x, __shfl_xor_sync(0xffffffffU, x, other));
  return x;
}
template <class T>
__device__ T warp_total(T x) {
  return warp_all(x, [](T a, T b) { return a + b; });
}

// Bits of the greatest size of a number: not below infinity's if one is not finite.
__device__ inline std::uint32_t most_of_row(const RowSource& from, std::int64_t r, int lane) {
  const RowSource::Row row = from[r];
  std::uint32_t most = 0;
  for (std::int32_t k = lane; k < from.width(); k += 32) {
    most = max(most, __float_as_uint(fabsf(row[k])));
  }
  return warp_all(most, [](std::uint32_t a, std::uint32_t b) { return max(a, b); });
}

// sqrt(width) most 2^e is below 2^top.
__device__ inline int scale_exponent(std::uint32_t most, std::int32_t width, int top) {
  if (most == 0 || most >= kInfinityBits) return 0;
  int root = 0;
  while ((std::int64_t{1} << 2 * root) < width) ++root;
  return top - root - 1 - ilogbf(__uint_as_float(most));
}

struct NarrowedRow {
  float norm, error;  // |x|, |x - y|
};

// The row, scaled, and zeros up to `stride`.
__device__ inline NarrowedRow narrow_row(const RowSource& from, std::int64_t r, int exponent,
                                         int lane, std::int32_t stride, __half* to) {
  const RowSource::Row row = from[r];
  float squares = 0;
  float errors = 0;
  for (std::int32_t k = lane; k < stride; k += 32) {
    const float x = k < from.width() ? scalbnf(row[k], exponent) : 0;
    to[k] = __float2half_rn(x);
    squares = fmaf(x, x, squares);
    const float error = x - __half2float(to[k]);
    errors = fmaf(error, error, errors);
  }
  return {sqrtf(warp_total(squares)), sqrtf(warp_total(errors))};
}

// sqrt(width) 2^-25: how far a row of numbers below the normal ones of fp16 may be off.
__device__ inline float small_error(std::int32_t width) {
  return 0x1p-25F * sqrtf(static_cast<float>(width));
}

// Two launches, a warp a row: the first finds facts->most, the second (`to` not null) the rest and
// each row's norm, and writes rows `stride` numbers apart. Rows from `count` to `all` become zeros.
__global__ void __launch_bounds__(kNarrowThreads)
    narrow_items(const __grid_constant__ RowSource items, std::int64_t count, std::int64_t all,
                 std::int32_t stride, __half* to, float* norms, ItemFacts* facts) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int exponent =
      to == nullptr ? 0 : scale_exponent(facts->most, items.width(), kItemExponent);
  std::uint32_t found = 0;
  float ratio = 0;
  for (std::int64_t r = (std::int64_t{blockIdx.x} * kNarrowThreads + threadIdx.x) / 32; r < all;
       r += std::int64_t{gridDim.x} * kNarrowThreads / 32) {
    if (to == nullptr) {
      if (r < count) found = max(found, most_of_row(items, r, lane));
    } else if (r < count) {
      const NarrowedRow size = narrow_row(items, r, exponent, lane, stride, to + r * stride);
      const float relative = size.error - small_error(items.width());
      if (relative > 0) ratio = fmaxf(ratio, relative / size.norm);
      if (lane == 0) norms[r] = size.norm;
      found = max(found, __float_as_uint(size.norm));
    } else {
      for (std::int32_t k = lane; k < stride; k += 32) to[r * stride + k] = __half{};
    }
  }
  if (lane != 0) return;
  atomicMax(to == nullptr ? &facts->most : &facts->norm, found);
  atomicMax(&facts->ratio, __float_as_uint(ratio));
}

// A user's scores before they are rounded to fp16 are off by slope |x_i| + base.
struct ScoreError {
  float slope, base;
};

// In place of the base: all scores are 0.
inline constexpr float kAllZero = -1;

// Users first, first + 1, ...: `count` rows, a warp each, and the error of each one's scores; an
// infinite base if a score in fp32 may overflow.
__global__ void __launch_bounds__(kNarrowThreads)
    narrow_users(const __grid_constant__ RowSource users, std::int64_t first, std::int64_t count,
                 std::int32_t stride, const ItemFacts* items, __half* to, ScoreError* errors,
                 int* not_finite) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t r = (std::int64_t{blockIdx.x} * kNarrowThreads + threadIdx.x) / 32;
  if (r >= count) return;
  const std::int32_t width = users.width();
  const std::uint32_t most = most_of_row(users, first + r, lane);
  const int own = scale_exponent(most, width, kUserExponent);
  const NarrowedRow size = narrow_row(users, first + r, own, lane, stride, to + r * stride);
  if (lane != 0) return;
  if (max(most, items->most) >= kInfinityBits) *not_finite = 1;
  const int both = own + scale_exponent(items->most, width, kItemExponent);
  const auto terms = static_cast<float>(width);
  const float narrowed = size.norm + size.error;
  // With the bound's own rounding, and products below the normal numbers of fp32.
  const float slope = 1.001F * (size.error + narrowed * __uint_as_float(items->ratio) +
                                (terms + 16) * 0x1p-22F * size.norm);
  const float base = 1.001F * narrowed * small_error(width) + scalbnf(terms, both - 148);
  const bool overflows = both < kUserExponent + kItemExponent - 126;
  errors[r] = {slope, most == 0 || items->most == 0 ? kAllZero : overflows ? INFINITY : base};
}

}  // namespace mf
