#include "algorithms/ials/blocks/device_steps.hpp"

#include <algorithm>

#include "algorithms/ials/blocks/device_kernels.hpp"
#include "base/json.hpp"

namespace mf::ials {

BlockSteps::BlockSteps(const IalsPpSettings& settings, const Sides& sides, const Model& initial,
                       Context& context)
    : settings_(settings), stream_(context.stream) {
  const PhaseScope phase(context.phases, "transfer");
  const std::int32_t f = settings.common.factors;
  const std::int32_t most = std::min(settings.block_size, f);
  cuda::Uploader uploader(*context.team, stream_);
  users_ = make_side(sides.users(), initial.p, sides.items().rows(), uploader);
  items_ = make_side(sides.items(), initial.q, sides.users().rows(), uploader);
  step_stride_ = row_stride(most, sizeof(float));
  predictions_ = cuda::DeviceBuffer<float>(sides.users().nnz());
  step_ = cuda::DeviceBuffer<float>(std::max(users_.data.rows, items_.data.rows) * step_stride_);
  parts_ = cuda::DeviceBuffer<float>(std::max(users_.parts, items_.parts) * part_floats(most));
  gram_ = DeviceGram(f, stream_);
  gram_.compute(factors(false), stride(), items_.data.rows, 0);  // loads the library's kernel
}

BlockSteps::Side BlockSteps::make_side(const als::Side& from, View<const float> packed,
                                       std::int64_t others, cuda::Uploader& uploader) const {
  // One batch: no matrix is stored but those of parts.
  const als::PlanRule rule = {std::max<std::int64_t>(from.rows(), 1),
                              als::all_parts(from.offsets, settings_.split_rows),
                              settings_.split_rows};
  const als::SidePlan plan = als::make_side_plan(from.offsets, rule);
  Side to;
  to.data = DeviceSide(from, packed, settings_.common.factors, uploader);
  const AlignedVector<float> regs = row_regs(from, others, settings_.common.loss);
  to.regs = uploader.array(View<const float>(regs));
  to.order = uploader.array(View<const std::int32_t>(plan.order));
  to.tasks = uploader.array(View<const als::RowTask>(plan.tasks));
  to.predict_tasks = uploader.array(View<const als::RowTask>(plan.bias_tasks));
  to.splits = uploader.array(View<const als::SplitRow>(plan.splits));
  to.parts = plan.most_parts;
  return to;
}

BlockSteps::Block BlockSteps::block(std::int32_t number) const {
  const std::int32_t first = number * settings_.block_size;
  return {first, std::min(settings_.block_size, settings_.common.factors - first)};
}

void BlockSteps::predict(const Side& now, const Side& other, const Block& block, const float* v,
                         std::int64_t v_stride) {
  PredictArgs args;
  args.first = block.first;
  args.count = block.count;
  args.v = v;
  args.v_stride = v_stride;
  args.y = other.data.factors.data();
  args.stride = stride();
  args.others = now.data.others.data();
  args.tasks = now.predict_tasks.data();
  args.n_tasks = static_cast<std::int64_t>(now.predict_tasks.size());
  args.predictions = predictions_.data();
  launch_predict(args, stream_);
}

void BlockSteps::solve(Side& now, const Side& other, const Block& block) {
  BlockArgs args;
  args.first = block.first;
  args.count = block.count;
  args.stride = stride();
  args.x = now.data.factors.data();
  args.y = other.data.factors.data();
  args.others = now.data.others.data();
  args.weights = now.data.weights.data();
  args.predictions = predictions_.data();
  args.gram = gram_.data();
  args.regs = now.regs.data();
  args.step = step_.data();
  args.step_stride = step_stride_;
  args.tasks = now.tasks.data();
  args.n_tasks = static_cast<std::int64_t>(now.tasks.size());
  args.splits = now.splits.data();
  args.n_splits = static_cast<std::int64_t>(now.splits.size());
  args.row_of_slot = now.order.data();
  args.parts = parts_.data();
  launch_block_step(args, stream_);
}

bool BlockSteps::half_step(bool users, Context& context) {
  Side& now = side(users);
  const Side& other = side(!users);
  float* x = now.data.factors.data();
  {
    const PhaseScope phase(context.phases, "gram");
    gram_.compute(other.data.factors.data(), stride(), other.data.rows, 0);
  }
  {
    const PhaseScope phase(context.phases, "predict");
    MF_CUDA(cudaMemsetAsync(predictions_.data(), 0, predictions_.bytes(), stream_));
    for (std::int32_t b = 0; b < settings_.blocks(); ++b) {
      predict(now, other, block(b), x + block(b).first, stride());
    }
  }
  for (std::int32_t b = 0; b < settings_.blocks(); ++b) {
    if (context.stop_requested && context.stop_requested()) return false;
    const Block now_block = block(b);
    {
      const PhaseScope phase(context.phases, "gradient");
      gram_.multiply(x, stride(), now.data.rows, now_block.first, now_block.count, step_.data(),
                     step_stride_);
    }
    {
      const PhaseScope phase(context.phases, "solve");
      solve(now, other, now_block);
    }
    if (b + 1 == settings_.blocks()) break;  // the other side's half-step begins anew
    const PhaseScope phase(context.phases, "predict");
    predict(now, other, now_block, step_.data(), step_stride_);
  }
  return true;
}

Json BlockSteps::facts() const {
  const auto of = [](const Side& side) {
    return Json{{"split_rows", side.splits.size()},
                {"thread_blocks", side.tasks.size()},
                {"empty_rows", side.data.empty_rows}};
  };
  return {{"blocks", settings_.blocks()}, {"x", of(users_)}, {"y", of(items_)}};
}

}  // namespace mf::ials
