// C += A B of n x n single-precision matrices by Eigen, one build per instruction set: the rate
// that the formation of A_u is compared with. Plain data only (see formation.hpp).
#pragma once

namespace mf::als::cpu {

using Sgemm = void (*)(int n, const float* a, const float* b, float* c);

Sgemm scalar_sgemm();
Sgemm avx2_sgemm();
Sgemm avx512_sgemm();

}  // namespace mf::als::cpu
