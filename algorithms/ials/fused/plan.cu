#include "algorithms/ials/fused/plan.hpp"

#include <utility>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/cut_rows.hpp"

namespace mf::ials {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    shrink_kernel(als::FusedTask* tasks, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) tasks[i].row_count = min(tasks[i].row_count, 1);
}

}  // namespace

SidePlan plan_side(const std::int64_t* offsets, std::int64_t rows, std::int64_t longest,
                   std::int64_t applied_up_to, const als::AppliedCapacities& most,
                   cudaStream_t stream) {
  cuda::DeviceParts cut = cuda::cut_rows(offsets, rows, longest, stream, applied_up_to);
  SidePlan plan;
  plan.tasks = std::move(cut.parts);
  plan.slots = cut.slots;
  const auto count = static_cast<std::int64_t>(plan.tasks.size());
  if (count == 0) return plan;
  shrink_kernel<<<cuda::blocks_for(count, kThreads), kThreads, 0, stream>>>(plan.tasks.data(),
                                                                            count);
  MF_CUDA_LAUNCHED("ials_fused shrink");
  als::AppliedTasks applied =
      als::find_applied(plan.tasks.data(), count, applied_up_to, most, stream);
  plan.formed = applied.formed;
  plan.applied = std::move(applied.plan);
  return plan;
}

}  // namespace mf::ials
