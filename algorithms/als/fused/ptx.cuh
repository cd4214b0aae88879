// The instructions of sm_80 and later that als_fused is made of; fused_kernel is empty for older
// devices, which its info keeps away.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace mf::als {

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// From global to shared memory, past the registers; the 16 bytes also past L1.
__device__ __forceinline__ void copy_16(std::uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void copy_16_if(bool wanted, std::uint32_t to, const void* from) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(
          to),
      "l"(from), "r"(static_cast<int>(wanted))
      : "memory");
}

__device__ __forceinline__ void copy_8(std::uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
}

// base + index * Bytes, in one instruction.
template <int Bytes>
__device__ __forceinline__ const char* row_address(const char* base, std::int32_t index) {
  const char* address;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(address) : "r"(index), "n"(Bytes), "l"(base));
  return address;
}

__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Until no copy of this thread is under way.
__device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Four 8 x 8 matrices of 16-bit words, transposed on the way.
__device__ __forceinline__ void load_transposed(std::uint32_t (&out)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address)
               : "memory");
}

// Four 8 x 8 matrices of 16-bit words.
__device__ __forceinline__ void load_rows(std::uint32_t (&out)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address)
               : "memory");
}

// c (16 x 8, fp32) += a (16 x 16, fp16) b (16 x 8, fp16).
__device__ __forceinline__ void multiply_add(float* c, const std::uint32_t (&a)[4],
                                             std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The largest over the warp.
__device__ __forceinline__ unsigned warp_largest(unsigned x) {
#if __CUDA_ARCH__ >= 800
  x = __reduce_max_sync(0xffffffffU, x);
#endif
  return x;
}

// Each 8 x 8 matrix of 16-bit words transposed, a warp's fragment to a fragment.
__device__ __forceinline__ std::uint32_t transposed(std::uint32_t fragment) {
  std::uint32_t out = 0;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(fragment));
  return out;
}

}  // namespace mf::als
