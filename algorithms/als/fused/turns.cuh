// The turns of a thread block of the fused kernels: it takes task after task, each
// the next that is free, and fetches it some turns before it is done.
#pragma once

#include "algorithms/als/fused/kernels.hpp"
#include "algorithms/als/fused/ptx.cuh"

namespace mf::als {

// Thread 0: the number of the next task, for fetch_task().
__device__ __forceinline__ void claim_task(const FusedSide& side, std::uint32_t& claimed) {
  if (threadIdx.x == 0) claimed = atomicAdd(side.next, 1U);
}

// Thread 0: to shared memory, as one of the copies that are waited for; beyond the last, a task
// of no row.
__device__ __forceinline__ void fetch_task(const FusedSide& side, std::int64_t task,
                                           FusedTask* to) {
  if (threadIdx.x != 0) return;
  if (task >= side.n_tasks) {
    to->row = -1;
    return;
  }
  const auto* from = reinterpret_cast<const int4*>(side.tasks + task);
  copy_16(shared_address(to), from);
  copy_16(shared_address(reinterpret_cast<int4*>(to) + 1), from + 1);
}

// Whether a fetched task exists.
__device__ __forceinline__ bool is_task(const FusedTask& task) { return task.row >= 0; }

}  // namespace mf::als
