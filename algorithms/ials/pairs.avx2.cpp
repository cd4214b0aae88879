#include <immintrin.h>

#include "algorithms/ials/pairs_body.hpp"

namespace mf::ials {
namespace {

struct Avx2 {
  using Vec = __m256;
  static constexpr int kWidth = 8;
  static constexpr int kDense = 4;  // by 3 vectors: 12 sums, 3 of G, 1 element: all 16 registers
  static constexpr int kSums = 8;
  static constexpr int kKept = 4;  // of the row, of v and sums, and 2 of products
  static constexpr int kStep = 2;
  MF_INLINE static Vec load(const float* x) { return _mm256_load_ps(x); }
  MF_INLINE static void store(float* x, Vec v) { _mm256_store_ps(x, v); }
  MF_INLINE static Vec zero() { return _mm256_setzero_ps(); }
  MF_INLINE static Vec set1(float x) { return _mm256_set1_ps(x); }
  MF_INLINE static Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
  MF_INLINE static Vec sub(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return _mm256_fnmadd_ps(a, b, c); }
  MF_INLINE static Vec4 quarter(Vec v) {
    return _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  }
};

}  // namespace

PairKernels avx2_pairs() { return kernels_of<Avx2>(); }

}  // namespace mf::ials
