#include "algorithms/bpmf/steps.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/als/fused/entries.hpp"
#include "algorithms/core/cuda/library_check.hpp"
#include "algorithms/core/cuda/ratings/cut_rows.hpp"
#include "algorithms/core/rows.hpp"
#include "base/error.hpp"

namespace mf::bpmf {
namespace {

// Beyond it squares of factors leave fp16, whose largest number is 65,504.
constexpr float kLargest = 512;

std::int64_t width_of(const RowColumns& columns) { return columns.factors + 2; }

template <class T>
cuda::DeviceBuffer<T> upload_all(const std::vector<T>& from, cudaStream_t stream) {
  return cuda::upload(View<const T>(from), stream);
}

// The moments of rows (x, 1, b) from the sum of their outer products, of which one half is looked
// at.
Moments moments_of(const float* gram, const RowColumns& columns) {
  const std::int64_t width = width_of(columns);
  const auto at = [&](std::int32_t i, std::int32_t j) {
    return static_cast<double>(gram[std::min(i, j) * width + std::max(i, j)]);
  };
  const std::int32_t size = columns.drawn();
  Moments moments = {at(columns.one(), columns.one()), Eigen::VectorXd(size),
                     Eigen::MatrixXd(size, size)};
  for (std::int32_t i = 0; i < size; ++i) {
    moments.sum(i) = at(columns.place(i), columns.one());
    for (std::int32_t j = 0; j < size; ++j) {
      moments.square(i, j) = at(columns.place(i), columns.place(j));
    }
  }
  return moments;
}

}  // namespace

void DrawSteps::DestroyBlas::operator()(cublasContext* handle) const { cublasDestroy(handle); }

DrawSteps::DrawSteps(const Settings& settings, cuda::DeviceRatings& ratings,
                     const als::DeviceResidual& center, double squares, const Model& initial,
                     Context& context)
    : settings_(settings),
      seed_(context.seed),
      nnz_(static_cast<double>(ratings.nnz())),
      alpha_(settings.first_alpha()),
      squares_(squares) {
  const cudaStream_t stream = context.stream;
  rule_.factors = settings_.columns.gathered();
  layout_ = SlotLayout::of(settings_.precision, rule_);
  const float largest = als::largest_rating(ratings.rows(), true, center, stream);
  if (!(largest <= kLargest)) {
    fail(ErrorKind::data,
         "bpmf: found a rating that is {} after what `center` removes; expected at most {}; scale "
         "the ratings, or remove it",
         std::isfinite(largest) ? std::to_string(largest) : "not a finite number", kLargest);
  }
  batch_ = rows_of_slots(layout_.floats);
  make_side(items_, ratings.columns(stream), cuda::RowsOf::items, center, initial, context);
  ratings.release_columns();
  make_side(users_, ratings.rows(), cuda::RowsOf::users, center, initial, context);
  ratings.release_rows();
  slots_ = cuda::DeviceBuffer<float>(std::max(slots_of(users_), slots_of(items_)) * layout_.floats);
  next_ = cuda::DeviceBuffer<std::uint32_t>(1);
  const std::int64_t width = width_of(settings_.columns);
  gram_ = cuda::DeviceBuffer<float>(width * width);
  host_gram_ = cuda::PinnedBuffer<float>(static_cast<std::size_t>(width * width));
  const std::int64_t size = settings_.columns.drawn();
  prior_ = cuda::DeviceBuffer<float>(layout_.floats + size * (size + 1));
  host_prior_ = cuda::PinnedBuffer<float>(prior_.size());
  if (settings_.draws_alpha()) residuals_ = cuda::zeros<float>(initial.n_items, stream);
  cublasHandle_t handle = nullptr;
  MF_LIBRARY(cublasCreate(&handle));
  blas_.reset(handle);
  MF_LIBRARY(cublasSetStream(handle, stream));
}

std::int64_t DrawSteps::slots_of(const Side& side) const {
  return side.slots + std::min(batch_, std::ssize(side.whole));
}

std::int64_t DrawSteps::stride() const {
  return row_stride(width_of(settings_.columns), sizeof(float));
}

void DrawSteps::make_side(Side& side, const cuda::RatingsOfRows& rows, cuda::RowsOf which,
                          const als::DeviceResidual& center, const Model& initial,
                          Context& context) const {
  const cudaStream_t stream = context.stream;
  side.n_rows = rows.rows;
  cut(side, rows, stream);
  side.entries = cuda::DeviceBuffer<als::FusedEntry>(rows.nnz);
  make_entries(rows, which == cuda::RowsOf::users, center, 1, side.entries.data(), stream);
  cuda::Uploader uploader(*context.team, stream);
  side.rows = cuda::initial_rows<float>(initial, which, stride(), uploader);
  cuda::zero_empty_rows(rows.offsets, rows.rows, side.rows.data(), stride(), stream);
  launch_ones(rows.offsets, rows.rows, side.rows.data(), stride(), settings_.columns.one(), stream);
  const std::int64_t words = rows.rows * als::fused_stride(rule_.factors);
  side.high = cuda::DeviceBuffer<__half>(words);
  if (settings_.precision == als::FusedPrecision::fp16x2) {
    side.low = cuda::DeviceBuffer<__half>(words);
  }
  narrow(side.rows.data(), stride(), 1, side.narrow(), rows.rows, rule_.factors, stream);
}

void DrawSteps::cut(Side& side, const cuda::RatingsOfRows& rows, cudaStream_t stream) const {
  const cuda::DeviceParts cut = cuda::cut_rows(rows.offsets, rows.rows, kSplitRows, stream);
  std::vector<als::FusedTask> all(cut.parts.size());
  cuda::download(View<als::FusedTask>(all), cut.parts.data(), stream);
  std::vector<als::FusedTask> parts, split, whole;
  for (als::FusedTask& task : all) {
    if (task.row_count == 0) continue;
    if (task.parts > 1) {
      parts.push_back(task);
      if (task.part == 0) split.push_back(task);
      continue;
    }
    task.first_slot = static_cast<std::int32_t>(std::ssize(whole) % batch_);
    whole.push_back(task);
  }
  side.slots = cut.slots;
  side.parts = upload_all(parts, stream);
  side.split = upload_all(split, stream);
  side.whole = upload_all(whole, stream);
}

void DrawSteps::draw(bool users, std::int64_t sweep, Context& context) {
  Side& to = users ? users_ : items_;
  {
    const PhaseScope phase(context.phases, "prior");
    draw_prior(to, key_of(seed_, sweep, users ? Drawn::user_prior : Drawn::item_prior),
               context.stream);
  }
  const PhaseScope phase(context.phases, users ? "update_x" : "update_theta");
  draw_rows(to, users ? items_ : users_, key_of(seed_, sweep, users ? Drawn::users : Drawn::items),
            users ? nullptr : residuals_.data(), context.stream);
}

void DrawSteps::draw_precision(std::int64_t sweep, Context& context) {
  const PhaseScope phase(context.phases, "prior");
  AlignedVector<float> residuals(residuals_.size());
  cuda::download(View<float>(residuals), residuals_.data(), context.stream);
  double errors = squares_;
  for (const float of_row : residuals) errors += of_row;
  Rng rng(key_of(seed_, sweep, Drawn::alpha));
  alpha_ = draw_alpha(errors, nnz_, rng);
}

// cuBLAS takes columns: the rows form a width x rows matrix.
void DrawSteps::draw_prior(const Side& side, std::uint64_t key, cudaStream_t stream) {
  const auto width = static_cast<int>(width_of(settings_.columns));
  const auto pitch = static_cast<int>(stride());
  const float one = 1;
  const float zero = 0;
  MF_LIBRARY(cublasSgemm(blas_.get(), CUBLAS_OP_N, CUBLAS_OP_T, width, width,
                         static_cast<int>(side.n_rows), &one, side.rows.data(), pitch,
                         side.rows.data(), pitch, &zero, gram_.data(), width));
  cuda::download(host_gram_.view(), gram_.data(), stream);
  Rng rng(key);
  const RowPrior prior(draw_hyper(settings_.beta0, settings_.nu0,
                                  moments_of(host_gram_.data(), settings_.columns), rng));
  const std::vector<float> slot = in_slot(layout_, prior.precision, prior.size);
  float* to = std::copy(slot.begin(), slot.end(), host_prior_.data());
  to = std::copy(prior.precision.begin(), prior.precision.end(), to);
  std::copy(prior.shift.begin(), prior.shift.end(), to);
  cuda::copy_to_device(prior_, View<const float>(host_prior_.data(), std::ssize(host_prior_)),
                       stream);
}

void DrawSteps::draw_rows(Side& to, Side& from, std::uint64_t key, float* residuals,
                          cudaStream_t stream) {
  const std::int64_t size = settings_.columns.drawn();
  const float* precision = prior_.data() + layout_.floats;
  const DrawRule rule = {prior_.data(), precision, precision + size * size,
                         static_cast<float>(alpha_), key};
  als::FusedSide side;
  side.entries = to.entries.data();
  side.from = from.narrow();
  side.to = to.narrow();
  // The start of CG: read, but not used.
  side.rows = to.rows.data();
  side.rows_stride = std::min<std::int64_t>(stride(), layout_.tiles * als::kFusedTile);
  side.next = next_.data();
  side.keep = true;
  DrawnRows rows;
  rows.rows = to.rows.data();
  rows.stride = stride();
  rows.narrow = to.narrow();
  rows.narrow_stride = als::fused_stride(rule_.factors);
  rows.residuals = residuals;
  const auto draw = [&](float* slots, const als::FusedTask* tasks, std::int64_t count,
                        const als::FusedTask* of_rows, std::int64_t n_rows) {
    side.scratch = slots;
    side.tasks = tasks;
    side.n_tasks = count;
    launch_fused(settings_.precision, rule_, side, stream);
    rows.slots = slots;
    rows.tasks = of_rows;
    rows.count = n_rows;
    launch_draw(layout_, settings_.columns, rule, rows, stream);
  };
  draw(slots_.data(), to.parts.data(), std::ssize(to.parts), to.split.data(), std::ssize(to.split));
  for (std::int64_t begin = 0; begin < std::ssize(to.whole); begin += batch_) {
    const als::FusedTask* tasks = to.whole.data() + begin;
    const std::int64_t count = std::min(batch_, std::ssize(to.whole) - begin);
    draw(slots_.data() + to.slots * layout_.floats, tasks, count, tasks, count);
  }
}

}  // namespace mf::bpmf
