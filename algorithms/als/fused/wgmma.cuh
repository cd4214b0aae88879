// The warpgroup's matrix product of sm_90a: 64 x N += 64 x 16 times 16 x N, operands in shared
// memory factors by ratings ("MN-major"), sums in the registers of four warps. Elsewhere nothing of
// this exists, and als_fused takes the products of a warp (kernel.cuh).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace mf::als {

// The address of an operand: panels of 64 factors, 128 bytes of each rating, one rating below the
// other, the eight 16-byte words of rating k exchanged by k % 8 (the hardware's 128-byte swizzle).
// The next eight ratings are 1,024 bytes further, the next panel `panel_bytes`.
__device__ __forceinline__ std::uint64_t operand_at(std::uint32_t address,
                                                    std::uint32_t panel_bytes) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
  constexpr std::uint64_t kEightRatings = 1024 / 16;
  return kSwizzle128 | kEightRatings << 32 | std::uint64_t{panel_bytes / 16} << 16 |
         (address & 0x3ffffU) / 16;
}

// In front of the first product after the sums were touched, and after other writes of operands.
__device__ __forceinline__ void begin_group_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_group_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Until all are done. The sums may be read after keep_after_products().
__device__ __forceinline__ void wait_group_products() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
// Until all but the last commit's are done.
__device__ __forceinline__ void wait_group_products_but_one() {
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
}
template <int N>
__device__ __forceinline__ void keep_after_products(float (&c)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(c[i])::"memory");
}

// This thread's copies and stores become visible to the products, once a barrier is passed.
__device__ __forceinline__ void show_to_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Until all but the last group of copies of this thread are done.
__device__ __forceinline__ void wait_copies_but_one() {
  asm volatile("cp.async.wait_group 1;" ::: "memory");
}

// c: sums of 64 x 2 N, N of a thread. Of a warp's 16 rows, lane (g, t) has of every eight columns
// elements (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1), as mma.m16n8k16 leaves them.
// clang-format off

// 4, 16 and 32 sums as operands, and the names that the instruction has for 32.
#define MF_SUMS_4(at) "+f"(c[at]), "+f"(c[(at) + 1]), "+f"(c[(at) + 2]), "+f"(c[(at) + 3])
#define MF_SUMS_16(at) MF_SUMS_4(at), MF_SUMS_4((at) + 4), MF_SUMS_4((at) + 8), MF_SUMS_4((at) + 12)
#define MF_SUMS_32(at) MF_SUMS_16(at), MF_SUMS_16((at) + 16)
#define MF_NAMES_0 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
  "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define MF_NAMES_32 \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, " \
  "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define MF_NAMES_64 \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, " \
  "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define MF_NAMES_96 \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
  "%127"
#define MF_MULTIPLY_ADD(columns, names, name_of_a, name_of_b, ...) \
  asm volatile( \
      "{ .reg .pred p; setp.eq.u32 p, 1, 1; " \
      "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32.f16.f16 " \
      "{" names "}, " name_of_a ", " name_of_b ", p, 1, 1, 1, 1; }" \
      : __VA_ARGS__ \
      : "l"(a), "l"(b))

__device__ __forceinline__ void group_multiply_add(float (&c)[32], std::uint64_t a,
                                                   std::uint64_t b) {
  MF_MULTIPLY_ADD("64", MF_NAMES_0, "%32", "%33", MF_SUMS_32(0));
}
__device__ __forceinline__ void group_multiply_add(float (&c)[64], std::uint64_t a,
                                                   std::uint64_t b) {
  MF_MULTIPLY_ADD("128", MF_NAMES_0 ", " MF_NAMES_32, "%64", "%65", MF_SUMS_32(0), MF_SUMS_32(32));
}
__device__ __forceinline__ void group_multiply_add(float (&c)[96], std::uint64_t a,
                                                   std::uint64_t b) {
  MF_MULTIPLY_ADD("192", MF_NAMES_0 ", " MF_NAMES_32 ", " MF_NAMES_64, "%96", "%97",
                  MF_SUMS_32(0), MF_SUMS_32(32), MF_SUMS_32(64));
}
__device__ __forceinline__ void group_multiply_add(float (&c)[128], std::uint64_t a,
                                                   std::uint64_t b) {
  MF_MULTIPLY_ADD("256", MF_NAMES_0 ", " MF_NAMES_32 ", " MF_NAMES_64 ", " MF_NAMES_96, "%128",
                  "%129", MF_SUMS_32(0), MF_SUMS_32(32), MF_SUMS_32(64), MF_SUMS_32(96));
}

// clang-format on

}  // namespace mf::als
