#include "algorithms/als/fused_steps.hpp"

#include <algorithm>

#include "algorithms/core/cuda/staging.hpp"

namespace mf::als {

FusedSteps::FusedSteps(const FusedSettings& settings, const Sides& sides, const Model& initial,
                       Context& context)
    : settings_(settings) {
  const Common& common = settings.common;
  rule_.factors = common.factors;
  rule_.reg = static_cast<float>(common.reg);
  rule_.steps = common.cg.steps;
  rule_.tolerance = static_cast<float>(common.cg.tolerance);
  const auto stream = static_cast<cudaStream_t>(context.stream);
  users_ = make_side(sides.users(), initial.p.data(), *context.team, stream);
  items_ = make_side(sides.items(), initial.q.data(), *context.team, stream);
  const auto slots = static_cast<std::size_t>(std::max(users_.slots, items_.slots));
  scratch_ = cuda::DeviceBuffer<float>(
      slots * static_cast<std::size_t>(fused_slot_floats(settings.precision, common.factors)));
  next_ = cuda::DeviceBuffer<std::uint32_t>(1);
  arrived_ = cuda::DeviceBuffer<std::uint32_t>(slots);
  if (slots > 0) MF_CUDA(cudaMemsetAsync(arrived_.data(), 0, arrived_.bytes(), stream));
}

FusedSteps::DeviceSide FusedSteps::make_side(const Side& side, const float* initial,
                                             ThreadTeam& team, cudaStream_t stream) {
  const FusedPlan plan = plan_fused(side.offsets, settings_.split_rows);
  DeviceSide made;
  made.rows = side.rows();
  made.tasks_count = static_cast<std::int64_t>(plan.tasks.size());
  made.slots = plan.slots;
  made.tasks = cuda::upload(View<const FusedTask>(plan.tasks), stream);
  cuda::Staging staging(static_cast<std::size_t>(side.nnz()) * sizeof(FusedEntry));
  made.entries = cuda::DeviceBuffer<FusedEntry>(side.others.size());
  staging.upload(
      made.entries, team, stream, [&](std::int64_t begin, std::int64_t end, FusedEntry* out) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          *out++ = fused_entry(side.others[i], side.values[i]);
        }
      });
  const auto rows = static_cast<std::size_t>(made.rows);
  made.factors = cuda::DeviceBuffer<float>(rows * static_cast<std::size_t>(stride()));
  cuda::upload_rows(staging, made.factors, initial, rule_.factors, stride(), team, stream);
  const std::size_t stored = static_cast<std::size_t>(fused_stride(rule_.factors));
  const std::size_t words = rows * stored;
  made.high = cuda::DeviceBuffer<__half>(words);
  if (settings_.precision == FusedPrecision::fp16x2) made.low = cuda::DeviceBuffer<__half>(words);
  narrow(made.factors.data(), stride(), made.narrow(), made.rows, rule_.factors, stream);
  return made;
}

FusedSide FusedSteps::arguments(DeviceSide& to, DeviceSide& from) {
  FusedSide side;
  side.tasks = to.tasks.data();
  side.n_tasks = to.tasks_count;
  side.entries = to.entries.data();
  side.from = from.narrow();
  side.to = to.narrow();
  side.rows = to.factors.data();
  side.rows_stride = stride();
  side.next = next_.data();
  side.scratch = scratch_.data();
  side.arrived = arrived_.data();
  return side;
}

void FusedSteps::update(DeviceSide& to, DeviceSide& from, cudaStream_t stream) {
  launch_fused(settings_.precision, rule_, arguments(to, from), stream);
}

Json FusedSteps::facts() const {
  return {{"user_tasks", users_.tasks_count},
          {"user_parts_of_split_rows", users_.slots},
          {"item_tasks", items_.tasks_count},
          {"item_parts_of_split_rows", items_.slots}};
}

}  // namespace mf::als
