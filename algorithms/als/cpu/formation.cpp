#include "algorithms/als/cpu/cholesky_body.hpp"
#include "algorithms/als/cpu/formation_body.hpp"

namespace mf::als::cpu {
namespace {

struct Baseline : Floats4 {
  static constexpr int kColumns = 4;
};

}  // namespace

FormationKernels scalar_formation() {
  return {form<Baseline>, weighted_sum<Baseline>, cholesky<Baseline>};
}

}  // namespace mf::als::cpu
