// How ials_fused cuts the rows of a half-step into tasks for thread blocks: on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/fused/applied/applied.hpp"
#include "algorithms/core/cuda/memory.hpp"

namespace mf::ials {

struct SidePlan {
  // Parts of long rows and the rows whose A is formed, as in als_fused; then rows that are solved
  // without A, the longest first.
  cuda::DeviceBuffer<als::FusedTask> tasks;
  std::int64_t formed = 0;   // tasks of the first kind
  std::int32_t slots = 0;    // of split rows
  als::AppliedPlan applied;  // of the second
};

// `offsets` of the rows are in device memory. A row of more than `longest` pairs is split; a whole
// row of at most `applied_up_to` is solved without A (-1: none). Rows are shrunk by the same
// however many pairs they have: the row_count of a task is 1, or 0 of a row without pairs. Waits
// for the stream.
SidePlan plan_side(const std::int64_t* offsets, std::int64_t rows, std::int64_t longest,
                   std::int64_t applied_up_to, const als::AppliedCapacities& most,
                   cudaStream_t stream);

}  // namespace mf::ials
