// The inner loops for every CPU, and the choice among all.
#include "algorithms/ccd/cpu/kernel_body.hpp"
#include "base/host/isa.hpp"

namespace mf::ccd::cpu {
namespace {

struct Scalar {
  using Vec = float;
  using Index = std::int64_t;
  static constexpr int kWidth = 1;
  MF_INLINE static Index index(const std::uint16_t* x) { return *x; }
  MF_INLINE static Index index(const std::int32_t* x) { return *x; }
  MF_INLINE static Vec load(const float* x) { return *x; }
  MF_INLINE static void store(float* x, Vec v) { *x = v; }
  MF_INLINE static Vec gather(const float* x, Index i) { return x[i]; }
  MF_INLINE static Vec zero() { return 0.0F; }
  MF_INLINE static Vec set1(float x) { return x; }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
  MF_INLINE static float sum(Vec v) { return v; }
};

}  // namespace

Kernels scalar_kernels() { return kernels_for<Scalar>(); }

Kernels kernels(Isa isa) {
  if constexpr (kAvxIsCompiled) {
    if (isa == Isa::avx512) return avx512_kernels();
    if (isa == Isa::avx2) return avx2_kernels();
  }
  return scalar_kernels();
}

}  // namespace mf::ccd::cpu
