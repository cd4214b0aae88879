#include "algorithms/als/fused/steps.hpp"

#include <algorithm>

#include "algorithms/als/fused/plan.hpp"
#include "base/json.hpp"

namespace mf::als {

FusedSteps::FusedSteps(const FusedSettings& settings, const Sides& sides, const Model& initial,
                       Context& context)
    : settings_(settings) {
  const Common& common = settings.common;
  rule_.factors = common.factors;
  rule_.reg = static_cast<float>(common.reg);
  rule_.steps = common.cg.steps;
  rule_.tolerance = static_cast<float>(common.cg.tolerance);
  cuda::Uploader uploader(*context.team, context.stream);
  users_ = make_side(sides.users(), initial.p, uploader);
  items_ = make_side(sides.items(), initial.q, uploader);
  const std::int64_t slots = std::max(users_.slots, items_.slots);
  scratch_ =
      cuda::DeviceBuffer<float>(slots * fused_slot_floats(settings.precision, common.factors));
  next_ = cuda::DeviceBuffer<std::uint32_t>(1);
  arrived_ = cuda::DeviceBuffer<std::uint32_t>(slots);
  if (slots > 0) MF_CUDA(cudaMemsetAsync(arrived_.data(), 0, arrived_.bytes(), context.stream));
}

FusedSteps::DeviceSide FusedSteps::make_side(const Side& side, View<const float> initial,
                                             cuda::Uploader& uploader) {
  const FusedPlan plan = plan_fused(side.offsets, settings_.split_rows);
  DeviceSide made;
  made.slots = plan.slots;
  made.tasks = uploader.array(View<const FusedTask>(plan.tasks));
  made.entries = uploader.filled<FusedEntry>(
      side.nnz(), [&](std::int64_t begin, std::int64_t end, FusedEntry* out) {
        for (std::int64_t i = begin; i < end; ++i) {
          *out++ = fused_entry(side.others[i], side.values[i]);
        }
      });
  made.factors = uploader.rows(initial, rule_.factors, stride());
  const std::int64_t words = side.rows() * fused_stride(rule_.factors);
  made.high = cuda::DeviceBuffer<__half>(words);
  if (settings_.precision == FusedPrecision::fp16x2) made.low = cuda::DeviceBuffer<__half>(words);
  narrow(made.factors.data(), stride(), made.narrow(), side.rows(), rule_.factors,
         uploader.stream());
  return made;
}

FusedSide FusedSteps::arguments(DeviceSide& to, DeviceSide& from) {
  FusedSide side;
  side.tasks = to.tasks.data();
  side.n_tasks = std::ssize(to.tasks);
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
  return {{"user_tasks", users_.tasks.size()},
          {"user_parts_of_split_rows", users_.slots},
          {"item_tasks", items_.tasks.size()},
          {"item_parts_of_split_rows", items_.slots}};
}

}  // namespace mf::als
