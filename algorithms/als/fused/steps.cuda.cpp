#include "algorithms/als/fused/steps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/als/fused/entries.hpp"
#include "algorithms/core/cuda/cut_rows.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

namespace mf::als {
namespace {

FusedScale scale_of(cuda::DeviceRatings& ratings, const DeviceResidual& center,
                    cudaStream_t stream) {
  const float largest = largest_rating(ratings.rows(), true, center, stream);
  if (std::isfinite(largest)) return scale_for(largest);
  fail(
      ErrorKind::data,
      "als_fused: found a rating that is not a finite number after what `center` removes; expected "
      "finite ratings; remove it, or scale the ratings");
}

}  // namespace

FusedSteps::FusedSteps(const FusedSettings& settings, cuda::DeviceRatings& ratings,
                       const DeviceResidual& center, const Model& initial, Context& context)
    : settings_(settings) {
  const Common& common = settings.common;
  const cudaStream_t stream = context.stream;
  rule_.factors = common.factors;
  rule_.steps = common.cg.steps;
  rule_.group = group_products(settings.products, settings.precision, common.factors);
  limits_ = applied_limits();
  scale_ = scale_of(ratings, center, stream);
  rule_.reg = static_cast<float>(common.reg * rating_scale(scale_));
  rule_.tolerance = static_cast<float>(common.cg.tolerance * residual_scale(scale_));
  rule_.down = static_cast<float>(factor_scale(scale_));
  rule_.up = 1 / rule_.down;
  items_ = make_side(ratings.columns(stream), cuda::RowsOf::items, center, stream);
  ratings.release_columns();
  users_ = make_side(ratings.rows(), cuda::RowsOf::users, center, stream);
  ratings.release_rows();
  cuda::Uploader uploader(*context.team, stream);
  start(users_, cuda::RowsOf::users, initial, uploader);
  start(items_, cuda::RowsOf::items, initial, uploader);
  const std::int64_t slots = std::max(users_.slots, items_.slots);
  scratch_ = cuda::DeviceBuffer<float>(slots * fused_slot_floats(settings.precision, rule_));
  next_ = cuda::DeviceBuffer<std::uint32_t>(1);
  arrived_ = cuda::zeros<std::uint32_t>(slots, stream);
}

FusedSteps::DeviceSide FusedSteps::make_side(const cuda::RatingsOfRows& rows, cuda::RowsOf which,
                                             const DeviceResidual& center,
                                             cudaStream_t stream) const {
  cuda::DeviceParts cut =
      cuda::cut_rows(rows.offsets, rows.rows, settings_.split_rows, stream, applied_up_to());
  DeviceSide made;
  made.slots = cut.slots;
  made.tasks = std::move(cut.parts);
  made.applied = find_applied(made.tasks.data(), std::ssize(made.tasks), applied_up_to(), limits_,
                              rule_.factors, stream);
  made.entries = cuda::DeviceBuffer<FusedEntry>(rows.nnz);
  make_entries(rows, which == cuda::RowsOf::users, center, static_cast<float>(rating_scale(scale_)),
               made.entries.data(), stream);
  return made;
}

// -1: none.
std::int64_t FusedSteps::applied_up_to() const {
  if (settings_.normal == FusedNormal::formed) return -1;
  if (settings_.precision == FusedPrecision::fp16x2) return -1;
  const std::int64_t most = applied_capacity(limits_, rule_.factors, kAppliedWarps);
  if (settings_.normal == FusedNormal::applied) return most;
  return std::min(most, applied_break_even(rule_.factors, rule_.steps, rule_.group));
}

void FusedSteps::start(DeviceSide& side, cuda::RowsOf which, const Model& initial,
                       cuda::Uploader& uploader) const {
  const std::int64_t rows = which == cuda::RowsOf::users ? initial.n_users : initial.n_items;
  side.factors = cuda::initial_rows<float>(initial, which, stride(), uploader);
  const std::int64_t words = rows * fused_stride(rule_.factors);
  side.high = cuda::DeviceBuffer<__half>(words);
  if (settings_.precision == FusedPrecision::fp16x2) side.low = cuda::DeviceBuffer<__half>(words);
  narrow(side.factors.data(), stride(), rule_.down, side.narrow(), rows, rule_.factors,
         uploader.stream());
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
  FusedSide side = arguments(to, from);
  side.n_tasks = to.applied.formed;
  launch_fused(settings_.precision, rule_, side, stream);
  AppliedRule applied;
  applied.factors = rule_.factors;
  applied.reg = rule_.reg;
  applied.steps = rule_.steps;
  applied.tolerance = rule_.tolerance;
  applied.down = rule_.down;
  applied.up = rule_.up;
  applied.equal_weights = true;
  launch_applied(applied, side, to.applied.plan, stream);
}

Json FusedSteps::facts() const {
  return {{"user_tasks", users_.tasks.size()},
          {"user_tasks_applied", std::ssize(users_.tasks) - users_.applied.formed},
          {"user_parts_of_split_rows", users_.slots},
          {"item_tasks", items_.tasks.size()},
          {"item_tasks_applied", std::ssize(items_.tasks) - items_.applied.formed},
          {"item_parts_of_split_rows", items_.slots},
          {"products", rule_.group ? "group" : "warp"},
          {"rating_scale", rating_scale(scale_)}};
}

}  // namespace mf::als
