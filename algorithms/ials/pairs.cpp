#include "algorithms/ials/pairs_body.hpp"
#include "base/host/isa.hpp"

namespace mf::ials {
namespace {

// Four floats by the compiler's vectors: SSE2 on every x86-64.
struct Baseline {
  using Vec = Vec4;
  static constexpr int kWidth = 4;
  static constexpr int kDense = 4;
  static constexpr int kSums = 0;
  [[maybe_unused]] static constexpr int kKept = 0;
  [[maybe_unused]] static constexpr int kStep = 4;
  MF_INLINE static Vec load(const float* x) { return *reinterpret_cast<const Vec*>(x); }
  MF_INLINE static void store(float* x, Vec v) { *reinterpret_cast<Vec*>(x) = v; }
  MF_INLINE static Vec zero() { return Vec{}; }
  MF_INLINE static Vec set1(float x) { return Vec{x, x, x, x}; }
  MF_INLINE static Vec add(Vec a, Vec b) { return a + b; }
  MF_INLINE static Vec sub(Vec a, Vec b) { return a - b; }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
  MF_INLINE static Vec4 quarter(Vec v) { return v; }
};

}  // namespace

PairKernels scalar_pairs() { return kernels_of<Baseline>(); }

PairKernels pair_kernels(Isa isa) {
  if constexpr (kAvxIsCompiled) {
    if (isa == Isa::avx512) return avx512_pairs();
    if (isa == Isa::avx2) return avx2_pairs();
  }
  return scalar_pairs();
}

}  // namespace mf::ials
