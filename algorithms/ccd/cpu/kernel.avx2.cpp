#include "algorithms/ccd/cpu/kernel_body.hpp"

namespace mf::ccd::cpu {
namespace {

struct Avx2 : Floats8 {
  using Index = __m256i;
  using Mask = __m256i;
  MF_INLINE static Mask first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  MF_INLINE static Index index(const std::uint16_t* x) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
  }
  MF_INLINE static Index index(const std::int32_t* x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  }
  // AVX2 lacks masked loads of 16 bits.
  MF_INLINE static Index index(const std::uint16_t* x, Mask lanes) {
    const int n =
        __builtin_popcount(static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes))));
    std::uint16_t some[kWidth] = {};
    for (int i = 0; i < n; ++i) some[i] = x[i];
    return index(some);
  }
  MF_INLINE static Index index(const std::int32_t* x, Mask lanes) {
    return _mm256_maskload_epi32(x, lanes);
  }
  MF_INLINE static Vec load(const float* x) { return _mm256_loadu_ps(x); }
  MF_INLINE static Vec load(const float* x, Mask lanes) { return _mm256_maskload_ps(x, lanes); }
  MF_INLINE static void store(float* x, Vec v) { _mm256_storeu_ps(x, v); }
  MF_INLINE static void store(float* x, Vec v, Mask lanes) { _mm256_maskstore_ps(x, lanes, v); }
  MF_INLINE static Vec gather(const float* x, Index i) { return _mm256_i32gather_ps(x, i, 4); }
  MF_INLINE static Vec gather(const float* x, Index i, Mask lanes) {
    return _mm256_mask_i32gather_ps(zero(), x, i, _mm256_castsi256_ps(lanes), 4);
  }
  MF_INLINE static float sum(Vec v) {
    v = _mm256_add_ps(v, _mm256_permute2f128_ps(v, v, 0x01));
    v = _mm256_add_ps(v, _mm256_permute_ps(v, 0x4E));
    return _mm256_cvtss_f32(_mm256_add_ps(v, _mm256_permute_ps(v, 0xB1)));
  }
};

}  // namespace

Kernels avx2_kernels() { return kernels_for<Avx2>(); }

}  // namespace mf::ccd::cpu
