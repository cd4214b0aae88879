// A solution of als_fused, to its side's rows in fp32 and in fp16 words.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "algorithms/als/fused/cg.cuh"

namespace mf::als {

// By one warp. Zero if the row has no ratings.
template <class Shape>
__device__ __forceinline__ void store_row(const FusedSide& side, const FusedRule& rule,
                                          const FusedTask& task, int lane,
                                          const FusedVector<Shape>& x) {
#pragma unroll
  for (int k = 0; k < Shape::kQuads; ++k) {
    const int i = 4 * (lane + 32 * k);
    if (i >= Shape::kStride) continue;
    const float4 v = task.row_count > 0 ? x.v[k] : float4{0, 0, 0, 0};
    if (i < side.rows_stride) {
      float* to = side.rows + std::int64_t{task.row} * side.rows_stride + i;
      *reinterpret_cast<float4*>(to) = rule.up * v;
    }
    const std::int64_t at = std::int64_t{task.row} * Shape::kMemoryStride + i;
    const __half2 high[2] = {__floats2half2_rn(v.x, v.y), __floats2half2_rn(v.z, v.w)};
    *reinterpret_cast<uint2*>(side.to.high + at) = *reinterpret_cast<const uint2*>(high);
    if (!Shape::kTwoWords) continue;
    const float2 a = __half22float2(high[0]);
    const float2 b = __half22float2(high[1]);
    const __half2 low[2] = {__floats2half2_rn(v.x - a.x, v.y - a.y),
                            __floats2half2_rn(v.z - b.x, v.w - b.y)};
    *reinterpret_cast<uint2*>(side.to.low + at) = *reinterpret_cast<const uint2*>(low);
  }
}

}  // namespace mf::als
