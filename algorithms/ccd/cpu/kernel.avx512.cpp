#include "algorithms/ccd/cpu/kernel_body.hpp"

namespace mf::ccd::cpu {
namespace {

struct Avx512 : Floats16 {
  using Index = __m512i;
  using Mask = __mmask16;
  static constexpr Mask kAll = 0xFFFF;
  MF_INLINE static Mask first(int n) { return static_cast<Mask>((1U << n) - 1U); }
  MF_INLINE static Index index(const std::uint16_t* x) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
  }
  MF_INLINE static Index index(const std::int32_t* x) { return _mm512_loadu_si512(x); }
  MF_INLINE static Index index(const std::uint16_t* x, Mask lanes) {
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, x));
  }
  MF_INLINE static Index index(const std::int32_t* x, Mask lanes) {
    return _mm512_maskz_loadu_epi32(lanes, x);
  }
  MF_INLINE static Vec load(const float* x) { return _mm512_loadu_ps(x); }
  MF_INLINE static Vec load(const float* x, Mask lanes) { return _mm512_maskz_loadu_ps(lanes, x); }
  MF_INLINE static void store(float* x, Vec v) { _mm512_storeu_ps(x, v); }
  MF_INLINE static void store(float* x, Vec v, Mask lanes) { _mm512_mask_storeu_ps(x, lanes, v); }
  MF_INLINE static Vec gather(const float* x, Index i) { return gather(x, i, kAll); }
  MF_INLINE static Vec gather(const float* x, Index i, Mask lanes) {
    return _mm512_mask_i32gather_ps(zero(), lanes, i, x, 4);
  }
  // With masks of all lanes: GCC 12 warns of the undefined sources of the plain intrinsics.
  MF_INLINE static float sum(Vec v) {
    v = _mm512_add_ps(v, _mm512_maskz_shuffle_f32x4(kAll, v, v, 0x4E));
    v = _mm512_add_ps(v, _mm512_maskz_shuffle_f32x4(kAll, v, v, 0xB1));
    v = _mm512_add_ps(v, _mm512_maskz_permute_ps(kAll, v, 0x4E));
    return _mm512_cvtss_f32(_mm512_add_ps(v, _mm512_maskz_permute_ps(kAll, v, 0xB1)));
  }
};

}  // namespace

Kernels avx512_kernels() { return kernels_for<Avx512>(); }

}  // namespace mf::ccd::cpu
