#include "algorithms/als/fused/steps.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/als/fused/entries.hpp"
#include "algorithms/core/cuda/cut_rows.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

namespace mf::als {
namespace {

// Sums of CG grow with the fifth power of the ratings' scale, and A may share its fp16 scale with
// their squares: README.md, Precision.
void check_range(const cuda::DeviceBuffer<float>& largest, cudaStream_t stream) {
  constexpr float kLargest = 512.0F;
  float found = 0;
  cuda::download(View<float>(&found, 1), largest.data(), stream);
  if (found <= kLargest) return;
  fail(ErrorKind::data,
       "als_fused: found a rating of size {} (after what `center` removes); expected at most {} on "
       "either side of 0, where fp16 and the solver's sums are safe; scale the ratings, or use als",
       found, kLargest);
}

}  // namespace

FusedSteps::FusedSteps(const FusedSettings& settings, cuda::DeviceRatings& ratings,
                       const DeviceResidual& center, const Model& initial, Context& context)
    : settings_(settings) {
  const Common& common = settings.common;
  const cudaStream_t stream = context.stream;
  rule_.factors = common.factors;
  rule_.reg = static_cast<float>(common.reg);
  rule_.steps = common.cg.steps;
  rule_.tolerance = static_cast<float>(common.cg.tolerance);
  auto largest = cuda::zeros<float>(1, stream);
  items_ = make_side(ratings.columns(stream), cuda::RowsOf::items, center, largest.data(), stream);
  ratings.release_columns();
  users_ = make_side(ratings.rows(), cuda::RowsOf::users, center, largest.data(), stream);
  ratings.release_rows();
  check_range(largest, stream);
  cuda::Uploader uploader(*context.team, stream);
  start(users_, cuda::RowsOf::users, initial, uploader);
  start(items_, cuda::RowsOf::items, initial, uploader);
  const std::int64_t slots = std::max(users_.slots, items_.slots);
  scratch_ =
      cuda::DeviceBuffer<float>(slots * fused_slot_floats(settings.precision, common.factors));
  next_ = cuda::DeviceBuffer<std::uint32_t>(1);
  arrived_ = cuda::zeros<std::uint32_t>(slots, stream);
}

FusedSteps::DeviceSide FusedSteps::make_side(const cuda::RatingsOfRows& rows, cuda::RowsOf which,
                                             const DeviceResidual& center, float* largest,
                                             cudaStream_t stream) const {
  cuda::DeviceParts cut = cuda::cut_rows(rows.offsets, rows.rows, settings_.split_rows, stream);
  DeviceSide made;
  made.slots = cut.slots;
  made.tasks = std::move(cut.parts);
  made.entries = cuda::DeviceBuffer<FusedEntry>(rows.nnz);
  make_entries(rows, which == cuda::RowsOf::users, center, made.entries.data(), largest, stream);
  return made;
}

void FusedSteps::start(DeviceSide& side, cuda::RowsOf which, const Model& initial,
                       cuda::Uploader& uploader) const {
  const std::int64_t rows = which == cuda::RowsOf::users ? initial.n_users : initial.n_items;
  side.factors = cuda::initial_rows<float>(initial, which, stride(), uploader);
  const std::int64_t words = rows * fused_stride(rule_.factors);
  side.high = cuda::DeviceBuffer<__half>(words);
  if (settings_.precision == FusedPrecision::fp16x2) side.low = cuda::DeviceBuffer<__half>(words);
  narrow(side.factors.data(), stride(), side.narrow(), rows, rule_.factors, uploader.stream());
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
