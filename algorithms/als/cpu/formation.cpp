#include "algorithms/als/cpu/cholesky_body.hpp"
#include "algorithms/als/cpu/formation_body.hpp"

namespace mf::als::cpu {
namespace {

// Four floats by the compiler's vectors: SSE2 on every x86-64.
struct Baseline {
  using Vec [[gnu::vector_size(16)]] = float;
  static constexpr int kWidth = 4;
  static constexpr int kColumns = 4;
  MF_INLINE static Vec load(const float* x) { return *reinterpret_cast<const Vec*>(x); }
  MF_INLINE static void store(float* x, Vec v) { *reinterpret_cast<Vec*>(x) = v; }
  MF_INLINE static Vec zero() { return Vec{}; }
  MF_INLINE static Vec set1(float x) { return Vec{x, x, x, x}; }
  MF_INLINE static Vec add(Vec a, Vec b) { return a + b; }
  MF_INLINE static Vec sub(Vec a, Vec b) { return a - b; }
  MF_INLINE static Vec mul(Vec a, Vec b) { return a * b; }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
};

}  // namespace

FormationKernels scalar_formation() {
  return {form<Baseline>, weighted_sum<Baseline>, cholesky<Baseline>};
}

}  // namespace mf::als::cpu
