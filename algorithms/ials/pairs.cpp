#include "algorithms/ials/pairs_body.hpp"
#include "base/host/isa.hpp"

namespace mf::ials {
namespace {

struct Baseline : Floats4 {
  static constexpr int kDense = 4;
  static constexpr int kSums = 0;
  [[maybe_unused]] static constexpr int kKept = 0;
  [[maybe_unused]] static constexpr int kStep = 4;
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
