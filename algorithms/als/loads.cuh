// 16-byte loads from global memory. Volatile, so that the compiler leaves them where they are
// written: several in a row, all under way before the first is used.
#pragma once

#include <cuda_runtime.h>

namespace mf::als {

// Through L1.
__device__ __forceinline__ float4 load_through_l1(const float4* from) {
  float4 x;
  asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "l"(from));
  return x;
}

// Past L1.
__device__ __forceinline__ float4 load_past_l1(const float4* from) {
  float4 x;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "l"(from));
  return x;
}

// What no one writes while the kernel runs.
__device__ __forceinline__ float4 load_constant(const float4* from) {
  float4 x;
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "l"(from));
  return x;
}

}  // namespace mf::als
