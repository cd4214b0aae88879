// The kernel of a half-step of ials_fused.
#pragma once

#include "algorithms/als/fused/kernels.hpp"

namespace mf::ials {

// Queues it: als_fused's own if all weights are equal, else the weighted one.
void launch_half_step(bool uniform, als::FusedPrecision precision, const als::FusedRule& rule,
                      const als::FusedSide& side, cudaStream_t stream);

}  // namespace mf::ials
