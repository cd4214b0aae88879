#include "algorithms/ials/blocks/device_steps.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/ials/blocks/device_kernels.hpp"
#include "base/json/json.hpp"

namespace mf::ials {

BlockSteps::BlockSteps(const IalsPpSettings& settings, DevicePairs& pairs, const Model& initial,
                       Context& context)
    : settings_(settings), stream_(context.stream) {
  const std::int32_t f = settings.common.factors;
  const std::int32_t most = std::min(settings.block_size, f);
  items_ = make_side(pairs.items(), pairs.alpha(), initial.n_users);
  pairs.release_items();
  users_ = make_side(pairs.users(), pairs.alpha(), initial.n_items);
  pairs.release_users();
  cuda::Uploader uploader(*context.team, stream_);
  users_.data.start(initial, cuda::RowsOf::users, uploader);
  items_.data.start(initial, cuda::RowsOf::items, uploader);
  step_stride_ = row_stride(most, sizeof(float));
  predictions_ = cuda::DeviceBuffer<float>(pairs.count());
  step_ = cuda::DeviceBuffer<float>(std::max(users_.data.rows, items_.data.rows) * step_stride_);
  const std::int64_t parts = std::max(users_.plan.most_parts, items_.plan.most_parts);
  parts_ = cuda::DeviceBuffer<float>(parts * part_floats(most));
  gram_ = DeviceGram(f, stream_);
  gram_.compute(factors(Which::items), stride(), items_.data.rows,
                0);  // loads the library's kernel
}

BlockSteps::Side BlockSteps::make_side(const cuda::RatingsOfRows& pairs, double alpha,
                                       std::int64_t others) const {
  Side to;
  to.data = DeviceSide(pairs, alpha, stream_);
  to.regs = cuda::DeviceBuffer<float>(pairs.rows);
  fill_row_regs(pairs.offsets, pairs.rows, others, settings_.common.loss, to.regs.data(), stream_);
  als::RowOrder order = als::order_rows(pairs.offsets, pairs.rows, settings_.split_rows, stream_);
  // One batch: only matrices of parts are stored.
  const als::PlanRule rule = {std::max<std::int64_t>(pairs.rows, 1), order.parts,
                              settings_.split_rows};
  to.plan = als::make_side_plan(pairs.offsets, std::move(order), rule, stream_);
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
  args.tasks = now.plan.bias_tasks.data();
  args.n_tasks = static_cast<std::int64_t>(now.plan.bias_tasks.size());
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
  args.tasks = now.plan.tasks.data();
  args.n_tasks = static_cast<std::int64_t>(now.plan.tasks.size());
  args.splits = now.plan.splits.data();
  args.n_splits = static_cast<std::int64_t>(now.plan.splits.size());
  args.row_of_slot = now.plan.order.data();
  args.parts = parts_.data();
  launch_block_step(args, stream_);
}

bool BlockSteps::half_step(Which which, Context& context) {
  Side& now = side(which);
  const Side& other = side(other_of(which));
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
    return Json{{"split_rows", side.plan.splits.size()},
                {"thread_blocks", side.plan.tasks.size()},
                {"empty_rows", side.data.empty_rows}};
  };
  return {{"blocks", settings_.blocks()}, {"x", of(users_)}, {"y", of(items_)}};
}

}  // namespace mf::ials
