// CG in als_fused (`descend` has the recurrence): A stays spread over the registers of the warps,
// as its formation left it. Every warp has the whole vectors (Shape::kQuads quads a lane), so that
// only the products with A cross warps: one barrier a step.
//
// A product with A of f factors, NT block rows of 16: with one word NT^2 products of 16 x 8 x 16 on
// the tensor cores, 4,096 FLOPs each, a quarter of them useful; with two words the ordinary units'
// 2 f^2, padded to NT 16. No bytes of device memory.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "algorithms/als/fused/ptx.cuh"
#include "algorithms/als/fused/shape.cuh"

namespace mf::als {

template <class Shape>
struct FusedVector {
  float4 v[Shape::kQuads];
};

__device__ __forceinline__ float4 operator*(float a, float4 v) {
  return {a * v.x, a * v.y, a * v.z, a * v.w};
}
__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
__device__ __forceinline__ float inner(float4 a, float4 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

template <class Shape>
__device__ __forceinline__ void add(FusedVector<Shape>& y, float a, const FusedVector<Shape>& x) {
#pragma unroll
  for (int k = 0; k < Shape::kQuads; ++k) y.v[k] = y.v[k] + a * x.v[k];
}
template <class Shape>
__device__ __forceinline__ void scale(FusedVector<Shape>& y, float by) {
#pragma unroll
  for (int k = 0; k < Shape::kQuads; ++k) y.v[k] = by * y.v[k];
}
// Of a lane's elements.
template <class Shape>
__device__ __forceinline__ float sum_of(const FusedVector<Shape>& a, const FusedVector<Shape>& b) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < Shape::kQuads; ++k) sum += inner(a.v[k], b.v[k]);
  return sum;
}

// The k with 2^k <= x < 2^(k + 1), kept within -100 to 100; x >= 0.
__device__ __forceinline__ int exponent_of(float x) {
  const auto bits = static_cast<int>(__float_as_uint(x) >> 23 & 0xffU);
  return min(max(bits - 127, -100), 100);
}
__device__ __forceinline__ float power_of_two(int k) {
  return __uint_as_float(static_cast<std::uint32_t>(k + 127) << 23);
}

// A power of two near 1 / sqrt(x), from half of the exponent; of a power of two, 1 / x.
__device__ __forceinline__ float inverse_root(float x) {
  return __uint_as_float((0x5f3759dfU - (__float_as_uint(x) >> 1)) & 0x7f800000U);
}
__device__ __forceinline__ float inverse_power(float x) {
  return __uint_as_float(0x7f000000U - __float_as_uint(x));
}

// The sum over the warp, in every lane.
__device__ __forceinline__ float warp_sum(float mine) {
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2) mine += __shfl_xor_sync(0xffffffffU, mine, bit);
  return mine;
}

// The four sums over the warp of v's elements, in every lane.
__device__ __forceinline__ float4 warp_sums(float4 v, int lane) {
  const auto swap_add = [lane](float v0, float v1, int bit) {
    const bool high = (lane & bit) != 0;
    return (high ? v1 : v0) + __shfl_xor_sync(0xffffffffU, high ? v0 : v1, bit);
  };
  float sum = swap_add(swap_add(v.x, v.z, 16), swap_add(v.y, v.w, 16), 8);
#pragma unroll
  for (int bit = 4; bit > 0; bit /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, bit);
  return {__shfl_sync(0xffffffffU, sum, 0), __shfl_sync(0xffffffffU, sum, 8),
          __shfl_sync(0xffffffffU, sum, 16), __shfl_sync(0xffffffffU, sum, 24)};
}

// 1 / x for x above kLeastInverted.
constexpr float kLeastInverted = 1.2e-38F;
__device__ __forceinline__ float inverse(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Algorithm 1 of cuMF_ALS (line 5 corrected), in the form that needs one set of sums a step:
// alpha = p.r / p.Ap minimises along p, beta = -(r - alpha Ap).Ap / p.Ap makes the next p
// conjugate to p; in exact arithmetic both are the paper's. |r - alpha Ap|^2 follows from r.r =
// p.r. `b` is A's right-hand side; `x` is the start, and the solution. product(p, pp) is A p, pp
// about the square of p's norm, or 1.
template <class Shape, class Product>
__device__ __forceinline__ void descend(const FusedVector<Shape>& b, FusedVector<Shape>& x,
                                        int steps, float tolerance, int lane, Product&& product) {
  FusedVector<Shape> r = b;
  FusedVector<Shape> ap = product(x, 1);
  add(r, -1.0F, ap);
  FusedVector<Shape> p = r;
  float pp = warp_sum(sum_of(r, r));
  const float least = tolerance * tolerance;
  for (int step = 0; step < steps; ++step) {
    ap = product(p, pp);
    const float4 dot =
        warp_sums({sum_of(p, ap), sum_of(r, ap), sum_of(ap, ap), sum_of(p, r)}, lane);
    // NaN stays, so that the run ends as diverged.
    const bool done = dot.x <= kLeastInverted || dot.w <= 0;
    const float by = inverse(dot.x);
    const float alpha = done ? 0.0F : dot.w * by;
    add(x, alpha, p);
    add(r, -alpha, ap);
    const float rr = dot.w + alpha * (alpha * dot.z - 2 * dot.y);
    if (done || !(rr >= least)) break;
    const float beta = (alpha * dot.z - dot.y) * by;
    pp = fmaxf(rr, 1e-8F * dot.w) + beta * beta * pp;
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) p.v[k] = r.v[k] + beta * p.v[k];
  }
}

// Two numbers as fp16 words: the nearest ones, and those nearest to the rest.
struct HalfPair {
  std::uint32_t high, low;
  __device__ __forceinline__ HalfPair(float x, float y) {
    const __half2 nearest = __floats2half2_rn(x, y);
    const float2 back = __half22float2(nearest);
    const __half2 rest = __floats2half2_rn(x - back.x, y - back.y);
    high = *reinterpret_cast<const std::uint32_t*>(&nearest);
    low = *reinterpret_cast<const std::uint32_t*>(&rest);
  }
};

// Writes scale * p for products on the tensor cores: of each element the nearest fp16 word and,
// Plane words further, the rest, in the order in which lane (g, t) wants rows 2t, 2t + 1, 2t + 8,
// 2t + 9 of a column. Half of the lanes write their second pair first: into other banks.
template <int Plane, class Shape>
__device__ __forceinline__ void store_halves(std::uint32_t* words, int lane,
                                             const FusedVector<Shape>& p, float scale) {
  const bool second = lane >= 16;
#pragma unroll
  for (int k = 0; k < Shape::kQuads; ++k) {
    const int i = 4 * (lane + 32 * k);
    const float4 v = scale * p.v[k];
    const int at = i / 16 * 8 + i % 8 + i % 16 / 8;  // (block, t, half) of elements i, i + 1
    const HalfPair a(v.x, v.y);
    const HalfPair b(v.z, v.w);
    std::uint32_t* const to = words + at + (second ? 2 : 0);
    std::uint32_t* const then = words + at + (second ? 0 : 2);
    to[0] = second ? b.high : a.high;
    then[0] = second ? a.high : b.high;
    to[Plane] = second ? b.low : a.low;
    then[Plane] = second ? a.low : b.low;
  }
}

// A in fp16, scaled by a power of two, as left operands of the tensor cores, and transposed.
template <class Shape>
class NarrowMatrix {
 public:
  // `largest`: element of A; it is on the diagonal.
  __device__ NarrowMatrix(const Accumulators<Shape>& sums, float largest, int role) : role_(role) {
    const int exponent = max(exponent_of(largest), -46) - 14;  // the largest then is below 2^15
    const float down = power_of_two(-exponent);
    unit_ = power_of_two(exponent);
    with_role<Shape::kWarps>(role, [&](auto r) {
      for_blocks<Shape, r>([&](auto row, auto column, auto slot) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const __half2 pair =
              __floats2half2_rn(sums.a[slot][2 * i] * down, sums.a[slot][2 * i + 1] * down);
          a_[slot][i] = *reinterpret_cast<const std::uint32_t*>(&pair);
        }
        if constexpr (row != column) {
          at_[slot][0] = transposed(a_[slot][0]);
          at_[slot][1] = transposed(a_[slot][2]);
          at_[slot][2] = transposed(a_[slot][1]);
          at_[slot][3] = transposed(a_[slot][3]);
        }
      });
    });
  }

  // Writes p for this warp's products.
  __device__ __forceinline__ static void store(FusedShared<Shape>& shared, int warp, int lane,
                                               const FusedVector<Shape>& p, float scale) {
    store_halves<kPlane>(reinterpret_cast<std::uint32_t*>(shared.p[warp]), lane, p, scale);
  }

  // This warp's part of A p, 1 / unit() times the stored p's.
  template <class Shared>
  __device__ __forceinline__ void multiply(Shared& shared, int buffer, int warp, int lane) const {
    const auto* words = reinterpret_cast<const std::uint32_t*>(shared.p[warp]);
    with_role<Shape::kWarps>(
        role_, [&](auto r) { multiply_role<r>(shared.parts[buffer][r], lane, words); });
  }
  __device__ __forceinline__ float unit() const { return unit_; }

 private:
  static constexpr int kPlane = Shape::kPlane;

  template <int Role>
  __device__ __forceinline__ void multiply_role(float* y, int lane,
                                                const std::uint32_t* words) const {
    constexpr int kColumns = Shape::kMap.columns[Role];
    const int g = lane / 4;
    const int t = lane % 4;
    // Each column of the right operand is p's high words or its low ones, by turns.
    std::uint32_t p[kColumns][2];
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const uint2 word = *reinterpret_cast<const uint2*>(words + g % 2 * kPlane + j * 8 + 2 * t);
      p[j][0] = word.x;
      p[j][1] = word.y;
    }
    // Along diagonals, so that products in a row of them do not wait for each other's sums.
    float sums[kColumns][4] = {};
    for_index<kColumns>([&](auto shift) {
      for_rows<Shape, Role>([&](auto row) {
        if constexpr (shift <= row) {
          constexpr int kColumn = row - shift;
          multiply_add(sums[row], a_[Shape::kMap.first_slot[row] + kColumn], p[kColumn][0],
                       p[kColumn][1]);
        }
      });
      for_rows<Shape, Role>([&](auto row) {
        if constexpr (shift <= row && shift > 0) {
          constexpr int kColumn = row - shift;
          multiply_add(sums[kColumn], at_[Shape::kMap.first_slot[row] + kColumn], p[row][0],
                       p[row][1]);
        }
      });
    });
    put<kColumns>(y + 16 * t + g, t, sums);
  }

  // All four lanes of a row have its sums: lane t writes the sums of block rows t, t + 4, ... Two
  // of the four write the lower half first: into other banks. Block rows past the last get zeros.
  template <int Columns>
  __device__ __forceinline__ static void put(float* y, int t, const float (&sums)[Columns][4]) {
    const bool second = t >= 2;
#pragma unroll
    for (int j = 0; j < Columns; j += 4) {
      float upper = 0;
      float lower = 0;
#pragma unroll
      for (int u = 0; u < 4 && j + u < Columns; ++u) {
        if (t != u) continue;
        upper = sums[j + u][0] + sums[j + u][1];
        lower = sums[j + u][2] + sums[j + u][3];
      }
      y[16 * j + (second ? 8 : 0)] = second ? lower : upper;
      y[16 * j + (second ? 0 : 8)] = second ? upper : lower;
    }
  }

  int role_;
  float unit_;  // of the products
  std::uint32_t a_[Shape::kSlots][4];
  std::uint32_t at_[Shape::kSlots][4];  // of blocks off the diagonal
};

// A in fp32 as it was formed, multiplied by the ordinary units.
template <class Shape>
class WideMatrix {
 public:
  __device__ WideMatrix(const Accumulators<Shape>& sums, float, int role)
      : sums_(sums), role_(role) {}

  __device__ __forceinline__ static void store(FusedShared<Shape>& shared, int warp, int lane,
                                               const FusedVector<Shape>& p, float scale) {
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) {
      const int i = 4 * (lane + 32 * k);
      *reinterpret_cast<float4*>(&shared.p[warp][i]) = scale * p.v[k];
    }
  }

  // A block B at (I, J): y_I += B p_J, and off the diagonal y_J += B^T p_I.
  __device__ __forceinline__ void multiply(FusedShared<Shape>& shared, int buffer, int warp,
                                           int lane) const {
    with_role<Shape::kWarps>(
        role_, [&](auto r) { multiply_role<r>(shared, buffer, lane, shared.p[warp]); });
  }
  __device__ __forceinline__ static float unit() { return 1; }

 private:
  template <int Role>
  __device__ __forceinline__ void multiply_role(FusedShared<Shape>& shared, int buffer, int lane,
                                                const float* p) const {
    constexpr int kColumns = Shape::kMap.columns[Role];
    constexpr int kPairs = (Shape::kMap.rows + 1) / 2;
    const int g = lane / 4;
    const int t = lane % 4;
    float by_row[kPairs][4] = {};  // of two block rows: g, g + 8 of the one, then of the other
    for_index<kColumns>([&](auto column) {
      const float2 left = *reinterpret_cast<const float2*>(p + column * 16 + 2 * t);
      const float2 right = *reinterpret_cast<const float2*>(p + column * 16 + 2 * t + 8);
      float by_column[4] = {};  // columns 2t, 2t + 1, 2t + 8, 2t + 9
      for_rows<Shape, Role>([&](auto row) {
        constexpr int kOrdinal = Shape::kMap.ordinal[row];
        const float* a = sums_.a[Shape::kMap.first_slot[row] + column];
        if constexpr (column <= row)
          add_rows(by_row[kOrdinal / 2] + kOrdinal % 2 * 2, a, left, right);
        if constexpr (column < row)
          add_columns(by_column, a, {p[row * 16 + g], p[row * 16 + g + 8]});
      });
      if constexpr (column < kColumns - 1) {
        const float y = sum_over_groups(by_column, lane);
        const int which = lane / 8;  // bits 4 and 3
        if (lane / 4 % 2 == 0) {
          shared.parts[buffer][Role][column * 16 + 2 * t + which % 2 + which / 2 * 8] = y;
        }
      }
    });
    float y[kPairs];
#pragma unroll
    for (int k = 0; k < kPairs; ++k) y[k] = sum_over_quads(by_row[k], lane);
    __syncwarp();  // the columns have arrived
    for_rows<Shape, Role>([&](auto row) {
      constexpr int kOrdinal = Shape::kMap.ordinal[row];
      float* to = shared.parts[buffer][Role] + row * 16 + g + t % 2 * 8;
      if (t / 2 == kOrdinal % 2) *to = y[kOrdinal / 2] + (row < kColumns - 1 ? *to : 0.0F);
    });
  }

  __device__ __forceinline__ static void add_rows(float* y, const float* a, float2 left,
                                                  float2 right) {
    y[0] += a[0] * left.x + a[1] * left.y + a[4] * right.x + a[5] * right.y;
    y[1] += a[2] * left.x + a[3] * left.y + a[6] * right.x + a[7] * right.y;
  }

  __device__ __forceinline__ static void add_columns(float* y, const float* a, float2 p) {
    y[0] += a[0] * p.x + a[2] * p.y;
    y[1] += a[1] * p.x + a[3] * p.y;
    y[2] += a[4] * p.x + a[6] * p.y;
    y[3] += a[5] * p.x + a[7] * p.y;
  }

  // The lane with that bit keeps v1 and gives v0, its partner the other way round; both add.
  __device__ __forceinline__ static float swap_add(float v0, float v1, int bit, int lane) {
    const bool high = (lane & bit) != 0;
    return (high ? v1 : v0) + __shfl_xor_sync(0xffffffffU, high ? v0 : v1, bit);
  }

  // v[which] over the eight lanes with equal lane % 4, which = bit 4 * 2 + bit 3 of the lane.
  __device__ __forceinline__ static float sum_over_groups(const float (&v)[4], int lane) {
    const float sum =
        swap_add(swap_add(v[0], v[2], 16, lane), swap_add(v[1], v[3], 16, lane), 8, lane);
    return sum + __shfl_xor_sync(0xffffffffU, sum, 4);
  }

  // v[lane % 4] over the four lanes with equal lane / 4.
  __device__ __forceinline__ static float sum_over_quads(const float (&v)[4], int lane) {
    return swap_add(swap_add(v[0], v[2], 2, lane), swap_add(v[1], v[3], 2, lane), 1, lane);
  }

  const Accumulators<Shape>& sums_;
  int role_;
};

template <class Shape>
class FusedCg {
 public:
  using Vector = FusedVector<Shape>;
  using Matrix = std::conditional_t<Shape::kTwoWords, WideMatrix<Shape>, NarrowMatrix<Shape>>;

  __device__ FusedCg(FusedShared<Shape>& shared, const Accumulators<Shape>& sums, float largest,
                     int role, float shrink)
      : shared_(shared),
        matrix_(sums, largest, role),
        shrink_(shrink),
        warp_(static_cast<int>(threadIdx.x) / 32),
        lane_(static_cast<int>(threadIdx.x) % 32) {}

  // `x` is the start, and the solution.
  __device__ __forceinline__ void solve(Vector& x, int steps, float tolerance) {
    Vector b;
    load(shared_.b, b);
    descend(b, x, steps, tolerance, lane_, Product{*this});
  }

  __device__ __forceinline__ void load(const float* from, Vector& to) const {
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) {
      to.v[k] = *reinterpret_cast<const float4*>(from + element(k));
    }
  }

 private:
  // No lambda: one that is not inlined keeps A in local memory (f = 256, two words: twice the
  // time).
  struct Product {
    FusedCg& cg;
    __device__ __forceinline__ Vector operator()(const Vector& p, float pp) const {
      return cg.product(p, pp);
    }
  };

  __device__ __forceinline__ int element(int k) const { return 4 * (lane_ + 32 * k); }

  // (A + shrink I) p. `pp` is about the square of the norm of p, or 1.
  __device__ __forceinline__ Vector product(const Vector& p, float pp) {
    const float down = inverse_root(pp);
    __syncwarp();  // the warp has read its p of the last product
    Matrix::store(shared_, warp_, lane_, p, down);
    __syncwarp();
    matrix_.multiply(shared_, buffer_, warp_, lane_);
    const float up = matrix_.unit() * inverse_power(down);
    __syncthreads();
    Vector y;
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) {
      const int i = element(k);
      y.v[k] = *reinterpret_cast<const float4*>(&shared_.parts[buffer_][0][i]);
#pragma unroll
      for (int w = 1; w < Shape::kWarps; ++w) {
        y.v[k] = y.v[k] + *reinterpret_cast<const float4*>(&shared_.parts[buffer_][w][i]);
      }
      // If the rating stands beside the factors, its rows of A are not the system's.
      const float mine = !Shape::kFree || i < Shape::kRatingAt ? up : 0.0F;
      y.v[k] = mine * y.v[k] + shrink_ * p.v[k];
    }
    buffer_ = 1 - buffer_;
    return y;
  }

  FusedShared<Shape>& shared_;
  Matrix matrix_;
  float shrink_;
  int warp_;
  int lane_;
  int buffer_ = 0;
};

}  // namespace mf::als
