#include "algorithms/als/bench/sgemm_body.hpp"

namespace mf::als::cpu {

Sgemm scalar_sgemm() { return sgemm; }

}  // namespace mf::als::cpu
