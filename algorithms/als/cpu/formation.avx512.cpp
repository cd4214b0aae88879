#include <immintrin.h>

#include "algorithms/als/cpu/cholesky_body.hpp"
#include "algorithms/als/cpu/formation_body.hpp"

namespace mf::als::cpu {
namespace {

struct Avx512 {
  using Vec = __m512;
  static constexpr int kWidth = 16;
  static constexpr int kColumns = 8;  // 24 sums, 3 of the row, 1 element: of 32 registers
  MF_INLINE static Vec load(const float* x) { return _mm512_load_ps(x); }
  MF_INLINE static void store(float* x, Vec v) { _mm512_store_ps(x, v); }
  MF_INLINE static Vec zero() { return _mm512_setzero_ps(); }
  MF_INLINE static Vec set1(float x) { return _mm512_set1_ps(x); }
  MF_INLINE static Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
  MF_INLINE static Vec sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
  MF_INLINE static Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return _mm512_fnmadd_ps(a, b, c); }
};

}  // namespace

FormationKernels avx512_formation() {
  return {form<Avx512>, weighted_sum<Avx512>, cholesky<Avx512>};
}

}  // namespace mf::als::cpu
