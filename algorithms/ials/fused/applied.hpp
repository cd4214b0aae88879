// Short rows without A: their rows of theta'' stay in shared memory, and CG applies A to vectors.
//
//   A p = shrink p + sum v theta'' (theta'' . p)        r_0 = sum (t - v theta'' . z) theta'' -
//   shrink z
//
// A thread block a row. n pairs, f factors padded to F, s steps: 8 n bytes of pairs and 2 F n of
// rows read once, 4 f read and written; (s + 1) 4 n f FLOPs in fp32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/fused/kernels.hpp"
#include "algorithms/ials/fused/applied_plan.hpp"

namespace mf::ials {

struct AppliedRule {
  std::int32_t factors = 0;
  float shrink = 0;
  std::int32_t steps = 0;
  // Equal weights: an entry says t, and v is 1. Otherwise it says v, and t = v + beside.
  bool equal_weights = false;
  float beside = 0;
};

// What a thread block may have on this device.
AppliedLimits applied_limits();

// Queues the launches of a plan. Of `side` it uses tasks, entries, from.high and rows.
void launch_applied(const AppliedRule& rule, const als::FusedSide& side, const AppliedPlan& plan,
                    cudaStream_t stream);

}  // namespace mf::ials
