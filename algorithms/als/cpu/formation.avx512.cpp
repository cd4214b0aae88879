#include "algorithms/als/cpu/cholesky_body.hpp"
#include "algorithms/als/cpu/formation_body.hpp"

namespace mf::als::cpu {
namespace {

struct Avx512 : Floats16 {
  static constexpr int kColumns = 8;  // 24 sums, 3 of the row, 1 element: of 32 registers
};

}  // namespace

FormationKernels avx512_formation() {
  return {form<Avx512>, weighted_sum<Avx512>, cholesky<Avx512>};
}

}  // namespace mf::als::cpu
