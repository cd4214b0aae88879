// The pairs as the kernels of ials_fused read them, made on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "algorithms/als/fused/kernels.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/ials/fused/weighting.hpp"

namespace mf::ials {

// entries[i] of pair i of the rows, whose values are ratings (pair_weight). Queued.
void make_entries(const cuda::RatingsOfRows& rows, double alpha, const Weighting& weighting,
                  als::FusedEntry* entries, cudaStream_t stream);

}  // namespace mf::ials
