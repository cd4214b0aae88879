#define Eigen EigenAvx2
#include "algorithms/als/bench/sgemm_body.hpp"

namespace mf::als::cpu {

Sgemm avx2_sgemm() { return sgemm; }

}  // namespace mf::als::cpu
