// als_fused's kernel for 193 to 256 factors on devices of compute capability 9.0, one fp16 word a
// factor: formed by the products of whole warpgroups. Light: for the host, too.
#pragma once

#include <cuda_runtime_api.h>

#include "algorithms/als/fused/kernels.hpp"

namespace mf::als {

// Whether this device has such products, and this build code for them.
bool has_group_kernel();

void launch_group(const FusedRule& rule, const FusedSide& side, cudaStream_t stream);

}  // namespace mf::als
