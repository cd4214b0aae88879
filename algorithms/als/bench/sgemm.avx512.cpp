#define Eigen EigenAvx512
#include "algorithms/als/bench/sgemm_body.hpp"

namespace mf::als::cpu {

Sgemm avx512_sgemm() { return sgemm; }

}  // namespace mf::als::cpu
