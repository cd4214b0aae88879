#include <immintrin.h>

#include "algorithms/sgd_cpu/kernel_body.hpp"

namespace mf::sgd_cpu {
namespace {

struct Avx2 {
  using Vec = __m256;
  static constexpr int kWidth = 8;
  static constexpr int kRegisters = 16;
  static constexpr int kMaxVectors = 8;
  MF_INLINE static Vec load(const float* x) { return _mm256_load_ps(x); }
  MF_INLINE static void store(float* x, Vec v) { _mm256_store_ps(x, v); }
  MF_INLINE static Vec zero() { return _mm256_setzero_ps(); }
  MF_INLINE static Vec set1(float x) { return _mm256_set1_ps(x); }
  MF_INLINE static Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
  MF_INLINE static Vec sub(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
  MF_INLINE static Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return _mm256_fnmadd_ps(a, b, c); }
  MF_INLINE static Vec sum_all(Vec v) {
    v = add(v, _mm256_permute2f128_ps(v, v, 0x01));
    v = add(v, _mm256_permute_ps(v, 0x4E));
    return add(v, _mm256_permute_ps(v, 0xB1));
  }
  MF_INLINE static float first(Vec v) { return _mm256_cvtss_f32(v); }
};

}  // namespace

Kernels avx2_kernels(std::int32_t factors, bool biased) {
  return kernels_for<Avx2>(factors, biased);
}

}  // namespace mf::sgd_cpu
