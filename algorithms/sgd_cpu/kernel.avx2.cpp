#include "algorithms/sgd_cpu/kernel_body.hpp"

namespace mf::sgd_cpu {
namespace {

struct Avx2 : Floats8 {
  static constexpr int kRegisters = 16;
  static constexpr int kMaxVectors = 8;
  MF_INLINE static Vec sum_all(Vec v) {
    v = add(v, _mm256_permute2f128_ps(v, v, 0x01));
    v = add(v, _mm256_permute_ps(v, 0x4E));
    return add(v, _mm256_permute_ps(v, 0xB1));
  }
  MF_INLINE static float first(Vec v) { return _mm256_cvtss_f32(v); }
};

}  // namespace

Kernels avx2_kernels(std::int32_t factors, bool biased) {
  return kernels_for<Avx2>(factors, biased);
}

}  // namespace mf::sgd_cpu
