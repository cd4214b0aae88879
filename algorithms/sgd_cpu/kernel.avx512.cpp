#include <immintrin.h>

#include "algorithms/sgd_cpu/kernel_body.hpp"

namespace mf::sgd_cpu {
namespace {

struct Avx512 {
  using Vec = __m512;
  static constexpr int kWidth = 16;
  static constexpr int kRegisters = 32;
  static constexpr int kMaxVectors = 8;
  MF_INLINE static Vec load(const float* x) { return _mm512_load_ps(x); }
  MF_INLINE static void store(float* x, Vec v) { _mm512_store_ps(x, v); }
  MF_INLINE static Vec zero() { return _mm512_setzero_ps(); }
  MF_INLINE static Vec set1(float x) { return _mm512_set1_ps(x); }
  MF_INLINE static Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
  MF_INLINE static Vec sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
  MF_INLINE static Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return _mm512_fnmadd_ps(a, b, c); }
  MF_INLINE static Vec sum_all(Vec v) {
    v = add(v, _mm512_shuffle_f32x4(v, v, 0x4E));
    v = add(v, _mm512_shuffle_f32x4(v, v, 0xB1));
    v = add(v, _mm512_permute_ps(v, 0x4E));
    return add(v, _mm512_permute_ps(v, 0xB1));
  }
  MF_INLINE static float first(Vec v) { return _mm512_cvtss_f32(v); }
};

}  // namespace

Kernels avx512_kernels(std::int32_t factors, bool biased) {
  return kernels_for<Avx512>(factors, biased);
}

}  // namespace mf::sgd_cpu
