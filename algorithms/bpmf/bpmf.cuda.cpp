// bpmf, our own Gibbs sampler on the device: the systems of a side's rows are formed by the tensor
// cores of als_fused, which leaves the sums of each in a slot, batch by batch, factorised and drawn
// from in shared memory (draw.hpp); priors on the host.
#include <algorithm>
#include <cmath>
#include <memory>

#include "algorithms/als/device_center.hpp"
#include "algorithms/als/fused/entries.hpp"
#include "algorithms/bpmf/draw.hpp"
#include "algorithms/bpmf/noise.hpp"
#include "algorithms/bpmf/prior.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/cuda/library_check.hpp"
#include "algorithms/core/cuda/ratings/cut_rows.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/rows.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
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

struct DestroyBlas {
  void operator()(cublasContext* handle) const { cublasDestroy(handle); }
};

class Bpmf : public Algorithm {
 public:
  explicit Bpmf(const Params& params) : settings_(read_settings(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, settings_.columns.factors, train, initial);
    nnz_ = train.nnz();
    seed_ = context.seed;
    alpha_ = settings_.first_alpha();
    const auto ratings = cuda::ratings_on_device(train, context);
    const cudaStream_t stream = context.stream;
    center_ = als::DeviceCenter(initial, settings_.removed(), {}, *ratings, stream);
    work_ = draw_work(settings_, nnz_, rated_shape(train, context).rows);
    const als::DeviceResidual center = center_.residual();
    if (settings_.draws_alpha()) {
      squares_ = sum_of_squares(train.values(), center.mean, *context.team);
    }
    rule_.factors = settings_.columns.gathered();
    layout_ = SlotLayout::of(settings_.precision, rule_);
    const float largest = als::largest_rating(ratings->rows(), true, center, stream);
    if (!(largest <= kLargest)) {
      fail(ErrorKind::data,
           "bpmf: found a rating that is {} after what `center` removes; expected at most {}; "
           "scale the ratings, or remove it",
           std::isfinite(largest) ? std::to_string(largest) : "not a finite number", kLargest);
    }
    batch_ = rows_of_slots(layout_.floats);
    make_side(items_, ratings->columns(stream), cuda::RowsOf::items, initial, context);
    ratings->release_columns();
    make_side(users_, ratings->rows(), cuda::RowsOf::users, initial, context);
    ratings->release_rows();
    slots_ =
        cuda::DeviceBuffer<float>(std::max(slots_of(users_), slots_of(items_)) * layout_.floats);
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

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    sweep_ = args.epoch;
    draw(true, context);
    if (context.stop_requested && context.stop_requested()) return nnz_;
    draw(false, context);
    if (settings_.draws_alpha()) draw_precision(context);
    return 2 * nnz_;
  }

  FactorView factors() override {
    return as_draw(center_.view(users_.rows.data(), items_.rows.data(), stride()), settings_,
                   sweep_);
  }

  Work work_per_epoch() const override { return work_; }

 private:
  struct Side {
    cuda::DeviceBuffer<als::FusedEntry> entries;
    // For the parts of split rows, whose slots come first; then whole rows, batch by batch.
    cuda::DeviceBuffer<als::FusedTask> parts, split, whole;
    std::int64_t slots = 0;  // of the parts
    cuda::DeviceBuffer<float> rows;
    std::int64_t n_rows = 0;
    cuda::DeviceBuffer<__half> high, low;
    als::NarrowRows narrow() { return {high.data(), low.data()}; }
  };

  std::int64_t slots_of(const Side& side) const {
    return side.slots + std::min(batch_, std::ssize(side.whole));
  }

  std::int64_t stride() const { return row_stride(width_of(settings_.columns), sizeof(float)); }

  void make_side(Side& side, const cuda::RatingsOfRows& rows, cuda::RowsOf which,
                 const Model& initial, Context& context) const {
    const cudaStream_t stream = context.stream;
    side.n_rows = rows.rows;
    cut(side, rows, stream);
    side.entries = cuda::DeviceBuffer<als::FusedEntry>(rows.nnz);
    make_entries(rows, which == cuda::RowsOf::users, center_.residual(), 1, side.entries.data(),
                 stream);
    cuda::Uploader uploader(*context.team, stream);
    side.rows = cuda::initial_rows<float>(initial, which, stride(), uploader);
    cuda::zero_empty_rows(rows.offsets, rows.rows, side.rows.data(), stride(), stream);
    launch_ones(rows.offsets, rows.rows, side.rows.data(), stride(), settings_.columns.one(),
                stream);
    const std::int64_t words = rows.rows * als::fused_stride(rule_.factors);
    side.high = cuda::DeviceBuffer<__half>(words);
    if (settings_.precision == als::FusedPrecision::fp16x2) {
      side.low = cuda::DeviceBuffer<__half>(words);
    }
    narrow(side.rows.data(), stride(), 1, side.narrow(), rows.rows, rule_.factors, stream);
  }

  void cut(Side& side, const cuda::RatingsOfRows& rows, cudaStream_t stream) const {
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

  // The prior of a side's rows, for which it waits, then the rows, which are queued.
  void draw(bool users, Context& context) {
    Side& to = users ? users_ : items_;
    {
      const PhaseScope phase(context.phases, "prior");
      draw_prior(to, key_of(seed_, sweep_, users ? Drawn::user_prior : Drawn::item_prior),
                 context.stream);
    }
    const PhaseScope phase(context.phases, users ? "update_x" : "update_theta");
    draw_rows(to, users ? items_ : users_,
              key_of(seed_, sweep_, users ? Drawn::users : Drawn::items),
              users ? nullptr : residuals_.data(), context.stream);
  }

  // If alpha is drawn: after the items. Waits.
  void draw_precision(Context& context) {
    const PhaseScope phase(context.phases, "prior");
    AlignedVector<float> residuals(residuals_.size());
    cuda::download(View<float>(residuals), residuals_.data(), context.stream);
    double errors = squares_;
    for (const float of_row : residuals) errors += of_row;
    Rng rng(key_of(seed_, sweep_, Drawn::alpha));
    alpha_ = draw_alpha(errors, static_cast<double>(nnz_), rng);
  }

  // cuBLAS takes columns: the rows form a width x rows matrix.
  void draw_prior(const Side& side, std::uint64_t key, cudaStream_t stream) {
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

  void draw_rows(Side& to, Side& from, std::uint64_t key, float* residuals, cudaStream_t stream) {
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
    draw(slots_.data(), to.parts.data(), std::ssize(to.parts), to.split.data(),
         std::ssize(to.split));
    for (std::int64_t begin = 0; begin < std::ssize(to.whole); begin += batch_) {
      const als::FusedTask* tasks = to.whole.data() + begin;
      const std::int64_t count = std::min(batch_, std::ssize(to.whole) - begin);
      draw(slots_.data() + to.slots * layout_.floats, tasks, count, tasks, count);
    }
  }

  Settings settings_;
  std::int64_t nnz_ = 0;
  std::int64_t sweep_ = 0;
  Work work_;
  als::DeviceCenter center_;
  als::FusedRule rule_;
  SlotLayout layout_;
  std::int64_t batch_ = 0;  // whole rows that are formed at a time
  Side users_, items_;
  std::uint64_t seed_ = 0;
  double alpha_ = 0;
  double squares_ = 0;  // of the ratings, their center removed; if alpha is drawn
  cuda::DeviceBuffer<float> slots_, gram_, prior_, residuals_;
  cuda::DeviceBuffer<std::uint32_t> next_;
  cuda::PinnedBuffer<float> host_gram_, host_prior_;
  std::unique_ptr<cublasContext, DestroyBlas> blas_;
};

const RegisterFactory registered("bpmf", [](const Params& params) {
  return std::make_unique<Bpmf>(params);
});

}  // namespace
}  // namespace mf::bpmf
