// 16-byte loads from global memory. Volatile, so that the compiler keeps their place: several in a
// row, all under way before the first is used.
#pragma once

#include <cuda_runtime.h>

namespace mf::als {

#define MF_ALS_LOAD(NAME, HOW)                                      \
  __device__ __forceinline__ float4 NAME(const float4* from) {      \
    float4 x;                                                       \
    asm volatile("ld.global." HOW ".v4.f32 {%0, %1, %2, %3}, [%4];" \
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)       \
                 : "l"(from));                                      \
    return x;                                                       \
  }

MF_ALS_LOAD(load_through_l1, "ca")
MF_ALS_LOAD(load_past_l1, "cg")
MF_ALS_LOAD(load_constant, "nc")  // of memory that no one writes while the kernel runs

#undef MF_ALS_LOAD

}  // namespace mf::als
