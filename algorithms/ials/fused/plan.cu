#include "algorithms/ials/fused/plan.hpp"

#include <utility>

#include "algorithms/core/cuda/cut_rows.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::ials {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    shrink_kernel(als::FusedTask* tasks, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) tasks[i].row_count = min(tasks[i].row_count, 1);
}

// A thread a band.
__global__ void band_kernel(const als::FusedTask* tasks, std::int64_t count,
                            std::int64_t applied_up_to, const AppliedCapacities most,
                            AppliedBands* bands) {
  const auto number = static_cast<int>(threadIdx.x);
  const std::int64_t formed = count_formed(tasks, count, applied_up_to);
  if (number == 0) bands->formed = formed;
  bands->band[number] = find_band(tasks, formed, count, most, number);
}

}  // namespace

SidePlan plan_side(const std::int64_t* offsets, std::int64_t rows, std::int64_t longest,
                   std::int64_t applied_up_to, const AppliedLimits& limits, int factors,
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
  cuda::StreamBuffer<AppliedBands> device(1, stream);
  band_kernel<<<1, kAppliedShapes, 0, stream>>>(plan.tasks.data(), count, applied_up_to,
                                                applied_capacities(limits, factors), device.data());
  MF_CUDA_LAUNCHED("ials_fused bands");
  AppliedBands bands;
  cuda::download(View<AppliedBands>(&bands, 1), device.data(), stream);
  plan.formed = bands.formed;
  plan.applied = plan_applied(bands, count);
  return plan;
}

}  // namespace mf::ials
