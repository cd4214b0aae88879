// Rows of few pairs, without A and without its products of f numbers: CG in the space of the pairs.
// The vectors of CG after the first residual r_0 are
//   v = Theta^T a + b r_0,        n + 1 numbers for n pairs,
// and with K = Theta Theta^T, d = Theta r_0, g = Theta v = K a + b d, V the weights, c the
// shrinkage
//   A v = Theta^T (V g + c a) + c b r_0        Theta A v = K V g + c g
//   v.v = a.g + b (a.d + b r_0.r_0)            v.A v = g.V g + c v.v
// The iterates equal CG's on the row's system (dual_cg.hpp). A step multiplies by K once, n^2,
// instead of by Theta and its transpose, 2 n f; Theta is multiplied four times in all. The tensor
// cores do all products: K as fp16 words times a power of two, vectors as the sums of two such
// words.
//
// A thread block a row. n pairs, f factors padded to F: 8 n bytes of pairs and 2 F n of rows read
// once, 4 f read, 4 f and 2 F written. FLOPs: n^2 f for K, 8 n f, 2 n^2 a step and once more.
#pragma once

#include <cuda_runtime_api.h>

#include "algorithms/als/fused/applied/applied.hpp"

namespace mf::als {

// Queues one launch of a plan, of a shape with tiles.
void launch_dual(const AppliedRule& rule, const FusedSide& side, const AppliedLaunch& what,
                 cudaStream_t stream);

}  // namespace mf::als
