// Rows of factors in memory as fp32, fp16 or bf16, in the registers as fp32: words of 8 or 16
// bytes, one load each. Narrow values are rounded to nearest (ties away from zero), or
// stochastically: up with the probability that makes the expected value exact, so that updates
// below half a unit in the last place still count.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math_constants.h>

#include <cstdint>

#include "algorithms/core/rows.hpp"

namespace mf::cuda {

// The addend below the last bit that stays: random bits (a multiplicative hash, good enough for
// this), or one half for rounding to nearest.
struct Rounder {
  std::uint32_t state;
  bool stochastic;
  std::uint32_t mask = ~0U;

  // The next values come from an update of this gain (rate * error). NaN must stay NaN: its bits,
  // 0x7fffffff, plus any others would be a number. No update with a finite gain makes or keeps NaN:
  // the values need no check.
  __device__ void expect(float gain) { mask = fabsf(gain) < CUDART_INF_F ? ~0U : 0U; }

  // For a pair of values, 16 bits each.
  __device__ std::uint32_t bits(std::uint32_t halves) {
    if (!stochastic) return halves & mask;
    state = state * 1664525U + 1013904223U;
    return (state ^ (state >> 15)) & mask;
  }
};

// The kUnits 32-bit units that one load brings: 2 or 4.
template <int kUnits>
struct alignas(4 * kUnits) Word {
  std::uint32_t unit[kUnits];
};

// Through the second-level cache: writes of other multiprocessors are seen, which a load through
// the first-level cache would not guarantee.
__device__ __forceinline__ Word<4> load_word(const Word<4>* from) {
  const uint4 x = __ldcg(reinterpret_cast<const uint4*>(from));
  return {{x.x, x.y, x.z, x.w}};
}
__device__ __forceinline__ Word<2> load_word(const Word<2>* from) {
  const uint2 x = __ldcg(reinterpret_cast<const uint2*>(from));
  return {{x.x, x.y}};
}
__device__ __forceinline__ void store_word(Word<4>* to, const Word<4>& x) {
  __stcg(reinterpret_cast<uint4*>(to), uint4{x.unit[0], x.unit[1], x.unit[2], x.unit[3]});
}
__device__ __forceinline__ void store_word(Word<2>* to, const Word<2>& x) {
  __stcg(reinterpret_cast<uint2*>(to), uint2{x.unit[0], x.unit[1]});
}

// The values of a unit. change(to, from) is the addend that turns `from` into `to`.
template <class T>
struct Unit;

template <>
struct Unit<float> {
  static constexpr int kCount = 1;
  __device__ static void unpack(std::uint32_t unit, float* x) { x[0] = __uint_as_float(unit); }
  __device__ static std::uint32_t pack(const float* x, Rounder&) { return __float_as_uint(x[0]); }
  __device__ static std::uint32_t change(std::uint32_t to, std::uint32_t from) {
    return __float_as_uint(__uint_as_float(to) - __uint_as_float(from));
  }
  __device__ static void add(Word<4>* to, const Word<4>& x) {
#if __CUDA_ARCH__ >= 900
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to),
                 "f"(__uint_as_float(x.unit[0])), "f"(__uint_as_float(x.unit[1])),
                 "f"(__uint_as_float(x.unit[2])), "f"(__uint_as_float(x.unit[3]))
                 : "memory");
#else
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      atomicAdd(reinterpret_cast<float*>(&to->unit[u]), __uint_as_float(x.unit[u]));
    }
#endif
  }
};

template <>
struct Unit<__half> {
  static constexpr int kCount = 2;
  __device__ static void unpack(std::uint32_t unit, float* x) {
    const float2 two = __half22float2(*reinterpret_cast<const __half2*>(&unit));
    x[0] = two.x;
    x[1] = two.y;
  }
  // fp32 has 13 bits of mantissa more: they are added to and cut off. Exact for normal numbers;
  // those below 2^-14 keep fewer bits and are in effect rounded towards zero.
  __device__ static std::uint32_t pack(const float* x, Rounder& rounder) {
    const std::uint32_t bits = rounder.bits(0x10001000U);
    const float up = __uint_as_float(__float_as_uint(x[0]) + (bits & 0x1fffU));
    const float vp = __uint_as_float(__float_as_uint(x[1]) + (bits >> 16 & 0x1fffU));
#if __CUDA_ARCH__ >= 800
    std::uint32_t two;
    asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(vp), "f"(up));
    return two;
#else
    return __half_as_ushort(__float2half_rz(up)) |
           static_cast<std::uint32_t>(__half_as_ushort(__float2half_rz(vp))) << 16;
#endif
  }
  __device__ static std::uint32_t change(std::uint32_t to, std::uint32_t from) {
    const __half2 made =
        __hsub2(*reinterpret_cast<__half2*>(&to), *reinterpret_cast<__half2*>(&from));
    return *reinterpret_cast<const std::uint32_t*>(&made);
  }
  __device__ static void add(Word<4>* to, const Word<4>& x) {
#if __CUDA_ARCH__ >= 900
    asm volatile("red.relaxed.gpu.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};" ::"l"(to),
                 "r"(x.unit[0]), "r"(x.unit[1]), "r"(x.unit[2]), "r"(x.unit[3])
                 : "memory");
#else
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      atomicAdd(reinterpret_cast<__half2*>(&to->unit[u]),
                *reinterpret_cast<const __half2*>(&x.unit[u]));
    }
#endif
  }
};

template <>
struct Unit<__nv_bfloat16> {
  static constexpr int kCount = 2;
  // A bf16 is the upper half of an fp32.
  __device__ static void unpack(std::uint32_t unit, float* x) {
    x[0] = __uint_as_float(unit << 16);
    x[1] = __uint_as_float(unit & 0xffff0000U);
  }
  __device__ static std::uint32_t pack(const float* x, Rounder& rounder) {
    const std::uint32_t bits = rounder.bits(0x80008000U);
    const std::uint32_t low = (__float_as_uint(x[0]) + (bits & 0xffffU)) >> 16;
    const std::uint32_t high = (__float_as_uint(x[1]) + (bits >> 16)) & 0xffff0000U;
    return high | low;
  }
  __device__ static std::uint32_t change(std::uint32_t to, std::uint32_t from) {
    const __nv_bfloat162 made = __floats2bfloat162_rn(
        __uint_as_float(to << 16) - __uint_as_float(from << 16),
        __uint_as_float(to & 0xffff0000U) - __uint_as_float(from & 0xffff0000U));
    return *reinterpret_cast<const std::uint32_t*>(&made);
  }
  __device__ static void add(Word<4>* to, const Word<4>& x) {
#if __CUDA_ARCH__ >= 900
    asm volatile("red.relaxed.gpu.global.add.noftz.v4.bf16x2 [%0], {%1, %2, %3, %4};" ::"l"(to),
                 "r"(x.unit[0]), "r"(x.unit[1]), "r"(x.unit[2]), "r"(x.unit[3])
                 : "memory");
#else
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      atomicAdd(reinterpret_cast<__nv_bfloat162*>(&to->unit[u]),
                *reinterpret_cast<const __nv_bfloat162*>(&x.unit[u]));
    }
#endif
  }
};

// The part of a row that one of kLanes lanes holds: word w of lane l is word w * kLanes + l.
template <class T, int kLanes, int kWords, int kUnits = 4>
struct RowShare {
  static constexpr int kWordLength = kUnits * Unit<T>::kCount;  // values
  static constexpr int kValues = kWords * kWordLength;
  Word<kUnits> raw[kWords];

  // Words of a row.
  __device__ static int words(std::int32_t factors) {
    return static_cast<int>(row_stride(factors, sizeof(T))) / kWordLength;
  }
  __device__ static const Word<kUnits>* row(const void* rows, std::int64_t index, int words) {
    return static_cast<const Word<kUnits>*>(rows) + index * words;
  }
  __device__ static Word<kUnits>* row(void* rows, std::int64_t index, int words) {
    return static_cast<Word<kUnits>*>(rows) + index * words;
  }

  __device__ void load(const void* rows, std::int64_t index, int lane, int words) {
    const Word<kUnits>* from = row(rows, index, words);
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const int k = w * kLanes + lane;
      raw[w] = k < words ? load_word(from + k) : Word<kUnits>{};
    }
  }
  __device__ void unpack(float* x) const {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
#pragma unroll
      for (int u = 0; u < kUnits; ++u) {
        Unit<T>::unpack(raw[w].unit[u], x + w * kWordLength + u * Unit<T>::kCount);
      }
    }
  }
  // Rounds to the stored type, here and in memory.
  __device__ void rewrite(void* rows, std::int64_t index, int lane, int words, const float* x,
                          Rounder& rounder) {
    Word<kUnits>* to = row(rows, index, words);
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const int k = w * kLanes + lane;
      if (k >= words) continue;
#pragma unroll
      for (int u = 0; u < kUnits; ++u) {
        raw[w].unit[u] = Unit<T>::pack(x + w * kWordLength + u * Unit<T>::kCount, rounder);
      }
      store_word(to + k, raw[w]);
    }
  }
  __device__ static void store(void* rows, std::int64_t index, int lane, int words, const float* x,
                               Rounder& rounder) {
    RowShare made;
    made.rewrite(rows, index, lane, words, x, rounder);
  }
  // Adds the difference between x and this, as it was loaded, to memory: atomic for each value, so
  // that no update of others is lost. x is rounded to the stored type first.
  __device__ void add_change(void* rows, std::int64_t index, int lane, int words, const float* x,
                             Rounder& rounder) const {
    Word<kUnits>* to = row(rows, index, words);
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const int k = w * kLanes + lane;
      if (k >= words) continue;
      Word<kUnits> made;
#pragma unroll
      for (int u = 0; u < kUnits; ++u) {
        const std::uint32_t wanted =
            Unit<T>::pack(x + w * kWordLength + u * Unit<T>::kCount, rounder);
        made.unit[u] = Unit<T>::change(wanted, raw[w].unit[u]);
      }
      Unit<T>::add(to + k, made);
    }
  }
};

// For all lanes, in every lane.
__device__ __forceinline__ int max_over_warp(int x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffU, x);
#else
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x = max(x, __shfl_xor_sync(0xffffffffU, x, step));
  return x;
#endif
}

// Sum over groups of kLanes neighbouring lanes; every lane of a group gets the same bits.
template <int kLanes>
__device__ __forceinline__ float sum_over_lanes(float x) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffU, x, step);
  return x;
}

}  // namespace mf::cuda
