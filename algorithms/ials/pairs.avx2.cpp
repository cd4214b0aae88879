#include "algorithms/ials/pairs_body.hpp"

namespace mf::ials {
namespace {

struct Avx2 : Floats8 {
  static constexpr int kDense = 4;  // by 3 vectors: 12 sums, 3 of G, 1 element: all 16 registers
  static constexpr int kSums = 8;
  static constexpr int kKept = 4;  // of the row, of v and sums, and 2 of products
  static constexpr int kStep = 2;
  MF_INLINE static Vec4 quarter(Vec v) {
    return _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  }
};

}  // namespace

PairKernels avx2_pairs() { return kernels_of<Avx2>(); }

}  // namespace mf::ials
