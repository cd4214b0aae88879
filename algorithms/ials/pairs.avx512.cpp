#include <immintrin.h>

#include "algorithms/ials/pairs_body.hpp"

namespace mf::ials {
namespace {

struct Avx512 {
  using Vec = __m512;
  static constexpr int kWidth = 16;
  static constexpr int kDense = 8;  // by 3 vectors: 24 sums, 3 of G, 1 element: of 32 registers
  static constexpr int kSums = 16;
  static constexpr int kKept = 8;  // of the row, of v and sums, and 2 of products
  static constexpr int kStep = 1;
  MF_INLINE static Vec load(const float* x) { return _mm512_load_ps(x); }
  MF_INLINE static void store(float* x, Vec v) { _mm512_store_ps(x, v); }
  MF_INLINE static Vec zero() { return _mm512_setzero_ps(); }
  MF_INLINE static Vec set1(float x) { return _mm512_set1_ps(x); }
  MF_INLINE static Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
  MF_INLINE static Vec sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return _mm512_fnmadd_ps(a, b, c); }
  MF_INLINE static Vec4 quarter(Vec v) {
    // Not by an extract intrinsic: GCC 12 warns of its undefined operand.
    const __m256 low = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
    const __m256 high = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m256 half = _mm256_add_ps(low, high);
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  }
};

}  // namespace

PairKernels avx512_pairs() { return kernels_of<Avx512>(); }

}  // namespace mf::ials
