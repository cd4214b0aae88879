// CG in als_fused: A stays where its formation left it, spread over the registers of the warps.
// Every warp has the whole vectors (Shape::kQuads quads a lane), so that only the products with A
// cross warps: one barrier a step.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "algorithms/als/fused_ptx.cuh"
#include "algorithms/als/fused_shape.cuh"

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

// The k with 2^k <= x < 2^(k + 1), kept within -100 to 100; x >= 0.
__device__ __forceinline__ int exponent_of(float x) {
  const auto bits = static_cast<int>(__float_as_uint(x) >> 23 & 0xffU);
  return min(max(bits - 127, -100), 100);
}
__device__ __forceinline__ float power_of_two(int k) {
  return __uint_as_float(static_cast<std::uint32_t>(k + 127) << 23);
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

// A in fp16, scaled by a power of two, as left operands of the tensor cores, and transposed.
template <class Shape>
class NarrowMatrix {
 public:
  // `largest`: element of A; it is on the diagonal.
  __device__ NarrowMatrix(const Accumulators<Shape>& sums, float largest, int role) : role_(role) {
    exponent_ = max(exponent_of(largest), -46) - 14;  // the largest then is below 2^15
    const float down = power_of_two(-exponent_);
    with_role<Shape::kWarps>(role, [&](auto r) {
      for_blocks<Shape::kTiles, decltype(r)::value>([&](int row, int column, int slot) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const __half2 pair =
              __floats2half2_rn(sums.a[slot][2 * i] * down, sums.a[slot][2 * i + 1] * down);
          a_[slot][i] = *reinterpret_cast<const std::uint32_t*>(&pair);
        }
        if (row == column) return;
        at_[slot][0] = transposed(a_[slot][0]);
        at_[slot][1] = transposed(a_[slot][2]);
        at_[slot][2] = transposed(a_[slot][1]);
        at_[slot][3] = transposed(a_[slot][3]);
      });
    });
  }

  // Writes p for this warp's products: of each element the nearest fp16 word and what is left, in
  // the order in which lane (g, t) wants rows 2t, 2t + 1, 2t + 8, 2t + 9 of column g < 2.
  __device__ static void store(FusedShared<Shape>& shared, int warp, int lane,
                               const FusedVector<Shape>& p, int exponent) {
    const float scale = power_of_two(-exponent);
    auto* words = reinterpret_cast<std::uint32_t*>(shared.p[warp]);
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) {
      const int i = 4 * (lane + 32 * k);
      const float4 v = scale * p.v[k];
      const int at = i / 16 * 8 + i % 8 + i % 16 / 8;  // (block, t, half) of elements i, i + 1
      store_pair(words, at, v.x, v.y);
      store_pair(words, at + 2, v.z, v.w);
    }
  }

  // Parts of A p into `by_row` and `by_column`, 2^-(exponent of A) times those of the stored p.
  __device__ void multiply(FusedShared<Shape>& shared, int buffer, int warp, int lane) const {
    const auto* words = reinterpret_cast<const std::uint32_t*>(shared.p[warp]);
    with_role<Shape::kWarps>(
        role_, [&](auto r) { multiply_role<decltype(r)::value>(shared, buffer, lane, words); });
  }
  __device__ int exponent() const { return exponent_; }

 private:
  static constexpr int kPlane = Shape::kVector / 2;  // words of one of the two terms

  __device__ static void store_pair(std::uint32_t* words, int at, float x, float y) {
    const __half2 high = __floats2half2_rn(x, y);
    const float2 back = __half22float2(high);
    const __half2 low = __floats2half2_rn(x - back.x, y - back.y);
    words[at] = *reinterpret_cast<const std::uint32_t*>(&high);
    words[at + kPlane] = *reinterpret_cast<const std::uint32_t*>(&low);
  }

  template <int Role>
  __device__ void multiply_role(FusedShared<Shape>& shared, int buffer, int lane,
                                const std::uint32_t* words) const {
    using Rows = BlockRows<Shape::kTiles, Role>;
    const int g = lane / 4;
    const int t = lane % 4;
    std::uint32_t p[Rows::kLower + 1][2];
#pragma unroll
    for (int j = 0; j <= Rows::kLower; ++j) {
      uint2 word = {0, 0};
      if (g < 2) word = *reinterpret_cast<const uint2*>(words + g * kPlane + j * 8 + 2 * t);
      p[j][0] = word.x;
      p[j][1] = word.y;
    }
    // Two sums of each block row, by turns: a product waits for the one before it in its sum.
    float upper[2][4] = {};
    float lower[2][4] = {};
    float columns[Rows::kLower + 1][4];
#pragma unroll
    for (int j = 0; j <= Rows::kLower; ++j) {
      add_or_set(j < 2, lower[j % 2], a_[Rows::kLowerSlot + j], p[j]);
      if (j < Rows::kLower)
        add_or_set(true, columns[j], at_[Rows::kLowerSlot + j], p[Rows::kLower]);
      if (Rows::kTwo && j <= Rows::kUpper) add_or_set(j < 2, upper[j % 2], a_[j], p[j]);
    }
#pragma unroll
    for (int j = 0; Rows::kTwo && j < Rows::kUpper; ++j) {
      add_or_set(false, columns[j], at_[j], p[Rows::kUpper]);
    }
    if (t != 0) return;
#pragma unroll
    for (int j = 0; j < Rows::kLower; ++j)
      put(shared.by_column[buffer][Role] + j * 16 + g, columns[j]);
    if (Rows::kTwo) put_two(shared.by_row[buffer] + Rows::kUpper * 16 + g, upper);
    put_two(shared.by_row[buffer] + Rows::kLower * 16 + g, lower);
  }

  __device__ static void add_or_set(bool set, float* sums, const std::uint32_t (&a)[4],
                                    const std::uint32_t (&p)[2]) {
    set ? set_product(sums, a, p[0], p[1]) : multiply_add(sums, a, p[0], p[1]);
  }

  __device__ static void put_two(float* y, const float (&sums)[2][4]) {
    y[0] = (sums[0][0] + sums[0][1]) + (sums[1][0] + sums[1][1]);
    y[8] = (sums[0][2] + sums[0][3]) + (sums[1][2] + sums[1][3]);
  }
  __device__ static void put(float* y, const float (&sums)[4]) {
    y[0] = sums[0] + sums[1];
    y[8] = sums[2] + sums[3];
  }

  int role_;
  int exponent_;
  std::uint32_t a_[Shape::kTiles + 1][4];
  std::uint32_t at_[Shape::kTiles + 1][4];  // of blocks off the diagonal
};

// A in fp32 as it was formed, multiplied by the ordinary units.
template <class Shape>
class WideMatrix {
 public:
  __device__ WideMatrix(const Accumulators<Shape>& sums, float, int role)
      : sums_(sums), role_(role) {}

  __device__ static void store(FusedShared<Shape>& shared, int warp, int lane,
                               const FusedVector<Shape>& p, int exponent) {
    const float scale = power_of_two(-exponent);
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) {
      const int i = 4 * (lane + 32 * k);
      *reinterpret_cast<float4*>(&shared.p[warp][i]) = scale * p.v[k];
    }
  }

  // A block B at (I, J): y_I += B p_J, and off the diagonal y_J += B^T p_I.
  __device__ void multiply(FusedShared<Shape>& shared, int buffer, int warp, int lane) const {
    with_role<Shape::kWarps>(role_, [&](auto r) {
      multiply_role<decltype(r)::value>(shared, buffer, lane, shared.p[warp]);
    });
  }
  __device__ static int exponent() { return 0; }

 private:
  template <int Role>
  __device__ void multiply_role(FusedShared<Shape>& shared, int buffer, int lane,
                                const float* p) const {
    using Rows = BlockRows<Shape::kTiles, Role>;
    const int g = lane / 4;
    const int t = lane % 4;
    const float upper_p[2] = {p[Rows::kUpper * 16 + g], p[Rows::kUpper * 16 + g + 8]};
    const float lower_p[2] = {p[Rows::kLower * 16 + g], p[Rows::kLower * 16 + g + 8]};
    float by_row[4] = {};  // upper block row: g, g + 8; lower: g, g + 8
#pragma unroll
    for (int column = 0; column <= Rows::kLower; ++column) {
      const float2 left = *reinterpret_cast<const float2*>(p + column * 16 + 2 * t);
      const float2 right = *reinterpret_cast<const float2*>(p + column * 16 + 2 * t + 8);
      float by_column[4] = {};  // columns 2t, 2t + 1, 2t + 8, 2t + 9
      if (Rows::kTwo && column <= Rows::kUpper) {
        const float* a = sums_.a[column];
        add_rows(by_row, a, left, right);
        if (column < Rows::kUpper) add_columns(by_column, a, upper_p);
      }
      const float* a = sums_.a[Rows::kLowerSlot + column];
      add_rows(by_row + 2, a, left, right);
      if (column == Rows::kLower) continue;
      add_columns(by_column, a, lower_p);
      const float y = sum_over_groups(by_column, lane);
      const int which = lane / 8;  // bits 4 and 3
      if (lane / 4 % 2 == 0) {
        shared.by_column[buffer][Role][column * 16 + 2 * t + which % 2 + which / 2 * 8] = y;
      }
    }
    const float y = sum_over_quads(by_row, lane);
    const int block_row = t / 2 == 0 ? Rows::kUpper : Rows::kLower;
    if (Rows::kTwo || t / 2 == 1) shared.by_row[buffer][block_row * 16 + g + t % 2 * 8] = y;
  }

  __device__ static void add_rows(float* y, const float* a, float2 left, float2 right) {
    y[0] += a[0] * left.x + a[1] * left.y + a[4] * right.x + a[5] * right.y;
    y[1] += a[2] * left.x + a[3] * left.y + a[6] * right.x + a[7] * right.y;
  }

  __device__ static void add_columns(float* y, const float* a, const float (&p)[2]) {
    y[0] += a[0] * p[0] + a[2] * p[1];
    y[1] += a[1] * p[0] + a[3] * p[1];
    y[2] += a[4] * p[0] + a[6] * p[1];
    y[3] += a[5] * p[0] + a[7] * p[1];
  }

  // The lane with that bit keeps v1 and gives v0, its partner the other way round; both add.
  __device__ static float swap_add(float v0, float v1, int bit, int lane) {
    const bool high = (lane & bit) != 0;
    return (high ? v1 : v0) + __shfl_xor_sync(0xffffffffU, high ? v0 : v1, bit);
  }

  // v[which] over the eight lanes with equal lane % 4, which = bit 4 * 2 + bit 3 of the lane.
  __device__ static float sum_over_groups(const float (&v)[4], int lane) {
    const float sum =
        swap_add(swap_add(v[0], v[2], 16, lane), swap_add(v[1], v[3], 16, lane), 8, lane);
    return sum + __shfl_xor_sync(0xffffffffU, sum, 4);
  }

  // v[lane % 4] over the four lanes with equal lane / 4.
  __device__ static float sum_over_quads(const float (&v)[4], int lane) {
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

  // Algorithm 1 of cuMF_ALS (line 5 corrected), in the form that needs one set of sums a step:
  // alpha = p.r / p.Ap minimises along p, beta = -(r - alpha Ap).Ap / p.Ap makes the next p
  // conjugate to p; in exact arithmetic both are the paper's. |r - alpha Ap|^2 follows from r.r =
  // p.r. `x` is the start, and the solution.
  __device__ void solve(Vector& x, int steps, float tolerance) {
    Vector r;
    load_b(r);
    Vector ap = product(x, 0);
    add(r, -1.0F, ap);
    Vector p = r;
    float pp = warp_sums({sum_of(r, r), 0, 0, 0}, lane_).x;
    for (int step = 0; step < steps; ++step) {
      ap = product(p, exponent_of(pp) / 2);
      const float4 dot =
          warp_sums({sum_of(p, ap), sum_of(r, ap), sum_of(ap, ap), sum_of(p, r)}, lane_);
      if (!(dot.x > 0) || !(dot.w > 0)) {
        // Not a number: nor is the row, so that the run ends as diverged.
        if (isnan(dot.x + dot.w)) add(x, dot.x + dot.w, p);
        break;
      }
      const float alpha = __fdividef(dot.w, dot.x);
      add(x, alpha, p);
      add(r, -alpha, ap);
      const float rr = dot.w + alpha * (alpha * dot.z - 2 * dot.y);
      if (rr < tolerance * tolerance) break;
      const float beta = __fdividef(alpha * dot.z - dot.y, dot.x);
      pp = fmaxf(rr, 1e-8F * dot.w) + beta * beta * pp;
#pragma unroll
      for (int k = 0; k < Shape::kQuads; ++k) p.v[k] = r.v[k] + beta * p.v[k];
    }
  }

 private:
  __device__ int element(int k) const { return 4 * (lane_ + 32 * k); }

  __device__ void load_b(Vector& r) const {
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) {
      r.v[k] = *reinterpret_cast<const float4*>(&shared_.b[element(k)]);
    }
  }

  __device__ static void add(Vector& y, float a, const Vector& x) {
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) y.v[k] = y.v[k] + a * x.v[k];
  }

  __device__ static float sum_of(const Vector& a, const Vector& b) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) sum += inner(a.v[k], b.v[k]);
    return sum;
  }

  // (A + shrink I) p. 2^exponent is about the norm of p, or 1.
  __device__ Vector product(const Vector& p, int exponent) {
    __syncwarp();  // the warp has read its p of the last product
    Matrix::store(shared_, warp_, lane_, p, exponent);
    __syncwarp();
    matrix_.multiply(shared_, buffer_, warp_, lane_);
    const float up = power_of_two(matrix_.exponent() + exponent);
    __syncthreads();
    Vector y;
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) {
      const int i = element(k);
      // Two sums, so that half of the additions wait for each other.
      float4 sum[2] = {*reinterpret_cast<const float4*>(&shared_.by_row[buffer_][i]), {0, 0, 0, 0}};
#pragma unroll
      for (int w = 0; w < Shape::kWarps; ++w) {
        const float4 part = *reinterpret_cast<const float4*>(&shared_.by_column[buffer_][w][i]);
        sum[1 - w % 2] = sum[1 - w % 2] + part;
      }
      y.v[k] = sum[0] + sum[1];
      // Where the rating stands beside the factors, its rows of A are not the system's.
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
