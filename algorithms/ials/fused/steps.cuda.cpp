#include "algorithms/ials/fused/steps.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/als/fused/group.hpp"
#include "algorithms/ials/fused/entries.hpp"
#include "algorithms/ials/fused/launch.hpp"
#include "algorithms/ials/fused/plan.hpp"
#include "algorithms/ials/fused/tiles.hpp"
#include "base/json.hpp"

namespace mf::ials {

FusedSteps::FusedSteps(const FusedSettings& settings, DevicePairs& pairs, const Model& initial,
                       Context& context)
    : settings_(settings), stream_(context.stream) {
  const std::int32_t factors = settings.common.factors;
  limits_ = als::applied_limits();
  weighting_ = weighting_of(pairs.weights());
  group_ = weighting_.uniform &&
           als::group_products(als::FusedProducts::automatic, settings.precision, factors);
  cuda::Uploader uploader(*context.team, stream_);
  const cuda::RatingsOfRows items = pairs.items();
  items_ = make_side(items, pairs.alpha());
  pairs.release_items();
  const cuda::RatingsOfRows users = pairs.users();
  users_ = make_side(users, pairs.alpha());
  pairs.release_users();
  start(users_, users.offsets, cuda::RowsOf::users, initial, uploader);
  start(items_, items.offsets, cuda::RowsOf::items, initial, uploader);
  const std::int64_t most_rows = std::max(users_.rows, items_.rows);
  const std::int64_t slots = std::max(users_.slots, items_.slots);
  rows_ = cuda::zeros<float>(most_rows * stride(), stream_);
  scratch_ = cuda::DeviceBuffer<float>(
      slots * (group_ ? als::kGroupSlotFloats
                      : slot_floats(weighting_.uniform, settings.precision, factors)));
  next_ = cuda::DeviceBuffer<std::uint32_t>(1);
  arrived_ = cuda::zeros<std::uint32_t>(slots, stream_);
  whitening_ = Whitening(factors, stride(), most_rows, settings.common.loss.reg,
                         settings.precision == als::FusedPrecision::fp16, stream_);
  whiten(items_);  // the libraries load their kernels here, not in the first epoch
  whitening_.start(users_.factors.data(), users_.rows, rows_.data());
}

FusedSteps::DeviceSide FusedSteps::make_side(const cuda::RatingsOfRows& pairs, double alpha) const {
  SidePlan plan = plan_side(pairs.offsets, pairs.rows, settings_.split_rows, applied_up_to(),
                            limits_, settings_.common.factors, stream_);
  DeviceSide made;
  made.rows = pairs.rows;
  made.slots = plan.slots;
  made.formed = plan.formed;
  made.applied = std::move(plan.applied);
  made.tasks = std::move(plan.tasks);
  made.entries = cuda::DeviceBuffer<als::FusedEntry>(pairs.nnz);
  make_entries(pairs, alpha, weighting_, made.entries.data(), stream_);
  return made;
}

void FusedSteps::start(DeviceSide& side, const std::int64_t* offsets, cuda::RowsOf which,
                       const Model& initial, cuda::Uploader& uploader) const {
  side.factors = cuda::initial_rows<float>(initial, which, stride(), uploader);
  // From the start, so that the first Gram matrix is without them.
  cuda::zero_empty_rows(offsets, side.rows, side.factors.data(), stride(), stream_);
  const std::int64_t words = side.rows * als::fused_stride(settings_.common.factors);
  side.high = cuda::DeviceBuffer<__half>(words);
  if (settings_.precision == als::FusedPrecision::fp16x2) {
    side.low = cuda::DeviceBuffer<__half>(words);
  }
}

std::int64_t FusedSteps::applied_up_to() const {
  const Common& common = settings_.common;
  if (settings_.normal == als::FusedNormal::formed) return -1;
  if (settings_.precision == als::FusedPrecision::fp16x2) return -1;
  const std::int64_t most = als::applied_capacity(limits_, common.factors, als::kAppliedWarps);
  if (settings_.normal == als::FusedNormal::applied) return most;
  return std::min(most, als::applied_break_even(common.factors, common.cg.steps, group_));
}

float FusedSteps::shrink(const DeviceSide& from) const {
  const double scale = white_scale(from.rows);
  return static_cast<float>(scale * scale / weighting_.k);
}

als::AppliedRule FusedSteps::applied_rule(const DeviceSide& from) const {
  als::AppliedRule rule;
  rule.factors = settings_.common.factors;
  rule.reg = shrink(from);
  rule.steps = settings_.common.cg.steps;
  rule.narrow = false;  // `whiten` writes them
  rule.equal_weights = weighting_.uniform;
  rule.beside = static_cast<float>(weighting_.beside());
  return rule;
}

als::FusedRule FusedSteps::rule(const DeviceSide& from) const {
  als::FusedRule rule;
  rule.factors = settings_.common.factors;
  rule.reg = shrink(from);
  rule.steps = settings_.common.cg.steps;
  rule.group = group_;
  const std::uint32_t beside = als::fused_entry(0, static_cast<float>(weighting_.beside())).rating;
  rule.beside = (beside & 0xffffU) * 0x10001U;
  return rule;
}

void FusedSteps::whiten(DeviceSide& from) {
  whitening_.factorize(from.factors.data(), from.rows, weighting_.unit);
  whitening_.whiten(from.factors.data(), from.rows, rows_.data());
  als::narrow(rows_.data(), stride(), 1, from.narrow(), from.rows, settings_.common.factors,
              stream_);
}

void FusedSteps::update(DeviceSide& to, DeviceSide& from) {
  whitening_.start(to.factors.data(), to.rows, rows_.data());
  als::FusedSide side;
  side.tasks = to.tasks.data();
  side.n_tasks = to.formed;
  side.entries = to.entries.data();
  side.from = from.narrow();
  side.to = to.narrow();  // of no use; `whiten` writes them again
  side.rows = rows_.data();
  side.rows_stride = stride();
  side.next = next_.data();
  side.scratch = scratch_.data();
  side.arrived = arrived_.data();
  launch_half_step(weighting_.uniform, settings_.precision, rule(from), side, stream_);
  als::launch_applied(applied_rule(from), side, to.applied, stream_);
  whitening_.finish(rows_.data(), to.rows, to.factors.data());
}

Json FusedSteps::facts() const {
  const auto applied = [](const DeviceSide& side) {
    return static_cast<std::int64_t>(side.tasks.size()) - side.formed;
  };
  return {{"equal_weights", weighting_.uniform},     {"user_tasks", users_.tasks.size()},
          {"user_tasks_applied", applied(users_)},   {"user_parts_of_split_rows", users_.slots},
          {"item_tasks", items_.tasks.size()},       {"item_tasks_applied", applied(items_)},
          {"item_parts_of_split_rows", items_.slots}};
}

}  // namespace mf::ials
