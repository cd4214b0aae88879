#include "algorithms/ials/pairs_body.hpp"

namespace mf::ials {
namespace {

struct Avx512 : Floats16 {
  static constexpr int kDense = 8;  // by 3 vectors: 24 sums, 3 of G, 1 element: of 32 registers
  static constexpr int kSums = 16;
  static constexpr int kKept = 8;  // of the row, of v and sums, and 2 of products
  static constexpr int kStep = 1;
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
