#include "algorithms/sgd_cpu/isa.hpp"

namespace mf::sgd_cpu {

Kernels kernels(Isa isa, std::int32_t factors, bool biased) {
  switch (isa) {
    case Isa::avx512:
      return avx512_kernels(factors, biased);
    case Isa::avx2:
      return avx2_kernels(factors, biased);
    case Isa::scalar:
      break;
  }
  return scalar_kernels(factors, biased);
}

}  // namespace mf::sgd_cpu
