// Rows without A: CG applies it to vectors. The rows of theta that a short one gathers stay in
// shared memory; the rows of a long one, with more factors than A can be formed for, are gathered
// anew for each product.
//
//   A p = shrink p + sum v theta (theta . p)        r_0 = sum (t - v theta . z) theta - shrink z
//
// A thread block a row. n pairs, f factors padded to F, s steps: 8 n bytes of pairs and 2 F n of
// rows read once (streamed: s + 1 times), 4 f read, 4 f and 2 F written; (s + 1) 4 n f FLOPs in
// fp32. For als_fused (v = 1, t the rating) and, with weights, for ials_fused.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/fused/applied/plan.hpp"
#include "algorithms/als/fused/kernels.hpp"

namespace mf::als {

struct AppliedRule {
  std::int32_t factors = 0;
  float reg = 0;  // shrink is row_reg() of the task's row_count
  float reg_power = 1;
  std::int32_t steps = 0;
  float tolerance = 0;  // of CG's residual; 0: all steps are done
  // As of FusedRule: the scale in which the system is solved.
  float down = 1;
  float up = 1;
  bool narrow = true;  // `to` of the side is written, too
  // Equal weights: an entry says t, and v is 1. Otherwise it says v, and t = v + beside.
  bool equal_weights = false;
  float beside = 0;
};

// Limits of a thread block on this device.
AppliedLimits applied_limits();

// Which of the tasks are applied, and by which thread blocks: of `count` in device memory, as
// cut_rows() leaves them for `applied_up_to`. Waits for the stream.
struct AppliedTasks {
  std::int64_t formed = 0;  // those before the applied ones
  AppliedPlan plan;
};
AppliedTasks find_applied(const FusedTask* tasks, std::int64_t count, std::int64_t applied_up_to,
                          const AppliedCapacities& most, cudaStream_t stream);

// Queues the launches of a plan. Of `side` it uses tasks, entries, from.high, rows and to.high.
void launch_applied(const AppliedRule& rule, const FusedSide& side, const AppliedPlan& plan,
                    cudaStream_t stream);

}  // namespace mf::als
