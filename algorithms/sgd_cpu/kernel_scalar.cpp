// The inner loops for every CPU, and the choice among all.
#include "algorithms/sgd_cpu/kernel_body.hpp"
#include "base/host/isa.hpp"

namespace mf::sgd_cpu {
namespace {

// One float at a time; compiled for baseline x86-64.
struct Scalar : One {
  using Vec = float;
  static constexpr int kWidth = 1;
  [[maybe_unused]] static constexpr int kRegisters = 16;
  static constexpr int kMaxVectors = 0;
  MF_INLINE static Vec load(const float* x) { return *x; }
  MF_INLINE static void store(float* x, Vec v) { *x = v; }
  MF_INLINE static Vec zero() { return 0.0F; }
  MF_INLINE static Vec set1(float x) { return x; }
  MF_INLINE static Vec add(Vec a, Vec b) { return a + b; }
  MF_INLINE static Vec sub(Vec a, Vec b) { return a - b; }
  MF_INLINE static Vec mul(Vec a, Vec b) { return a * b; }
  MF_INLINE static Vec sum_all(Vec v) { return v; }
  MF_INLINE static float first(Vec v) { return v; }
};

}  // namespace

Kernels scalar_kernels(std::int32_t factors, bool biased) {
  return kernels_for<Scalar>(factors, biased);
}

Kernels kernels(Isa isa, std::int32_t factors, bool biased) {
  if constexpr (kAvxIsCompiled) {
    if (isa == Isa::avx512) return avx512_kernels(factors, biased);
    if (isa == Isa::avx2) return avx2_kernels(factors, biased);
  }
  return scalar_kernels(factors, biased);
}

}  // namespace mf::sgd_cpu
