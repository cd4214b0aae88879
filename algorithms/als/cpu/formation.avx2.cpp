#include "algorithms/als/cpu/cholesky_body.hpp"
#include "algorithms/als/cpu/formation_body.hpp"

namespace mf::als::cpu {
namespace {

struct Avx2 : Floats8 {
  static constexpr int kColumns = 4;  // 12 sums, 3 of the row, 1 element: all 16 registers
};

}  // namespace

FormationKernels avx2_formation() { return {form<Avx2>, weighted_sum<Avx2>, cholesky<Avx2>}; }

}  // namespace mf::als::cpu
