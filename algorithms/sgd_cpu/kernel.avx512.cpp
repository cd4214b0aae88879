#include "algorithms/sgd_cpu/kernel_body.hpp"

namespace mf::sgd_cpu {
namespace {

struct Avx512 : Floats16 {
  static constexpr int kRegisters = 32;
  static constexpr int kMaxVectors = 8;
  MF_INLINE static Vec sum_all(Vec v) {
    v = add(v, _mm512_shuffle_f32x4(v, v, 0x4E));
    v = add(v, _mm512_shuffle_f32x4(v, v, 0xB1));
    v = add(v, _mm512_permute_ps(v, 0x4E));
    return add(v, _mm512_permute_ps(v, 0xB1));
  }
  MF_INLINE static float first(Vec v) { return _mm512_cvtss_f32(v); }
};

}  // namespace

Kernels avx512_kernels(std::int32_t factors, bool biased) {
  return kernels_for<Avx512>(factors, biased);
}

}  // namespace mf::sgd_cpu
