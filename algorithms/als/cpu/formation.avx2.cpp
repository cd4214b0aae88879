#include <immintrin.h>

#include "algorithms/als/cpu/cholesky_body.hpp"
#include "algorithms/als/cpu/formation_body.hpp"

namespace mf::als::cpu {
namespace {

struct Avx2 {
  using Vec = __m256;
  static constexpr int kWidth = 8;
  static constexpr int kColumns = 4;  // 12 sums, 3 of the row, 1 element: all 16 registers
  MF_INLINE static Vec load(const float* x) { return _mm256_load_ps(x); }
  MF_INLINE static void store(float* x, Vec v) { _mm256_store_ps(x, v); }
  MF_INLINE static Vec zero() { return _mm256_setzero_ps(); }
  MF_INLINE static Vec set1(float x) { return _mm256_set1_ps(x); }
  MF_INLINE static Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
  MF_INLINE static Vec sub(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
  MF_INLINE static Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return _mm256_fnmadd_ps(a, b, c); }
};

}  // namespace

FormationKernels avx2_formation() { return {form<Avx2>, weighted_sum<Avx2>, cholesky<Avx2>}; }

}  // namespace mf::als::cpu
