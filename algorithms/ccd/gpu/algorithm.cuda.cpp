// CCD++ on the device: the equations of cpu/algorithm.cpp, the passes of kernels.cu.
#include <cstdint>
#include <utility>

#include "algorithms/ccd/gpu/device_layout.hpp"
#include "algorithms/ccd/gpu/kernels.hpp"
#include "algorithms/ccd/settings.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/rows.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "base/json/json.hpp"

namespace mf::ccd {
namespace {

// Whole cache lines, and at least one number more than rows: the zero of padding.
std::int64_t vector_stride(std::int64_t rows) { return row_stride(rows + 1, 4, 128); }

// Rows with more slots than this, on average, are added by a warp each.
constexpr std::int64_t kSlotsOfThread = 4;

// The vectors of the other side that a pass gathers from.
struct Other {
  const float* held;
  const float* old;
  const float* now;
};

// One side of R: its residuals in its own order, and its factors, a vector for each.
class DeviceSide {
 public:
  DeviceSide() = default;
  // Made of the rows of R, or its columns, which may then be freed; R starts with their values.
  // `tables`: vectors that an exchange gathers from.
  DeviceSide(const Settings& settings, const cuda::RatingsOfRows& rows, std::int64_t n_others,
             int tables, cudaStream_t stream)
      : factors_(settings.factors), rows_(rows.rows), stride_(vector_stride(rows.rows)) {
    const std::int64_t widest = widest_tile(tables);
    const DeviceLayout layout = make_device_layout(rows, n_others, widest, stream);
    tiles_ = layout.tiles;
    const bool shared = layout.tile_width <= widest;
    const PassGrid grid = pass_grid(shared);
    const Pieces cut = cut_pieces(View<const std::int64_t>(layout.tile_begins), grid.blocks);
    pieces_ = cuda::upload(View<const Piece>(cut.pieces), stream);
    of_block_ = cuda::upload(View<const std::int32_t>(cut.of_block), stream);
    tasks_ = make_stream_tasks(layout, pieces_, grid.warps, stream);
    const std::int64_t size = layout.size();
    padding_ = size > 0 ? 1 - static_cast<double>(rows.nnz) / static_cast<double>(size) : 0;
    const auto tasks = static_cast<std::int64_t>(tasks_.tasks.size());
    by_warp_ = tasks > kSlotsOfThread * rows_;

    residual_ = cuda::DeviceBuffer<float>(size);
    const auto fill = [&]<class Index>(cuda::DeviceBuffer<Index>& to) {
      to = cuda::DeviceBuffer<Index>(size);
      fill_layout(layout, rows, to.data(), residual_.data(), stream);
    };
    shared ? fill(narrow_) : fill(wide_);
    shrink_ = cuda::DeviceBuffer<float>(rows_);
    fill_shrink(rows.offsets, rows_, settings.reg, settings.reg_scale == RegScale::rows,
                shrink_.data(), stream);
    sums_ = cuda::DeviceBuffer<float2>(tasks);
    const void* indices = shared ? static_cast<const void*>(narrow_.data()) : wide_.data();
    view_ = {tasks_.heads.data(),
             tasks_.before.data(),
             tasks_.tasks.data(),
             pieces_.data(),
             of_block_.data(),
             tasks == 0 ? 0U : static_cast<unsigned>(grid.blocks),
             indices,
             residual_.data(),
             sums_.data(),
             n_others,
             layout.tile_width,
             shared};
  }

  // The factors of each row, row_stride(factors) numbers apart. Before any step.
  void start(cuda::DeviceBuffer<float> packed, cudaStream_t stream) {
    packed_ = std::move(packed);
    vectors_ = cuda::zeros<float>(factors_ * stride_, stream);
    zeros_ = cuda::zeros<float>(stride_, stream);
    old_ = cuda::zeros<float>(stride_, stream);
    launch_transpose(packed_.data(), row_stride(factors_, sizeof(float)), vectors_.data(), stride_,
                     rows_, factors_, stream);
  }

  // R -= P Q^T of the first factors of both sides. The other side's rows are its packed ones.
  void subtract(const DeviceSide& other, cudaStream_t stream) {
    launch_subtract(
        view_, {packed_.data(), other.packed_.data(), row_stride(factors_, sizeof(float))}, stream);
  }

  // The steps of sweep_factor, as in cpu/side.hpp.
  void exchange(int k, int held, const Other& other, cudaStream_t stream) {
    launch_exchange(view_, {other.held, other.old, other.now, vector(held), vector(k), 1.0F},
                    stream);
    finish(k, stream);
  }

  void solve(int k, const float* now, cudaStream_t stream) {
    launch_sums(view_, {nullptr, nullptr, now, nullptr, nullptr, 1.0F}, stream);
    finish(k, stream);
  }

  void change(int k, float sign, const float* other, cudaStream_t stream) {
    launch_change(view_, {nullptr, other, nullptr, nullptr, vector(k), sign}, stream);
  }

  // Of factor k, or zeros for kNone: a number for each row, and zeros.
  const float* vector(int k) const {
    return k == kNone ? zeros_.data() : vectors_.data() + k * stride_;
  }
  const float* old() const { return old_.data(); }

  // Rows of row_stride(factors) numbers, zero beyond the factors.
  const float* pack(cudaStream_t stream) {
    launch_transpose(vectors_.data(), stride_, packed_.data(), row_stride(factors_, sizeof(float)),
                     factors_, rows_, stream);
    return packed_.data();
  }

  // Launches each kernel once, which loads it: no epoch pays for that.
  void warm_up(const Other& other, cudaStream_t stream) {
    // With vectors of zeros: R stays, and the sums are ignored.
    launch_exchange(view_, {other.held, other.old, other.now, zeros_.data(), zeros_.data(), 1.0F},
                    stream);
    launch_sums(view_, {nullptr, nullptr, other.now, nullptr, nullptr, 1.0F}, stream);
    launch_change(view_, {nullptr, other.old, nullptr, nullptr, zeros_.data(), 1.0F}, stream);
    launch_finish({sums_.data(), tasks_.slots.data(), shrink_.data(), old_.data(), old_.data(),
                   rows_, by_warp_},
                  stream);
  }

  std::int64_t tiles() const { return tiles_; }
  bool shared() const { return view_.shared; }
  double padding() const { return padding_; }  // share of the stream

 private:
  void finish(int k, cudaStream_t stream) {
    launch_finish({sums_.data(), tasks_.slots.data(), shrink_.data(), vectors_.data() + k * stride_,
                   old_.data(), rows_, by_warp_},
                  stream);
  }

  int factors_ = 0;
  std::int64_t rows_ = 0, stride_ = 0, tiles_ = 0;
  double padding_ = 0;
  DeviceSideView view_ = {};
  StreamTasks tasks_;
  cuda::DeviceBuffer<Piece> pieces_;
  cuda::DeviceBuffer<std::int32_t> of_block_;
  cuda::DeviceBuffer<std::uint16_t> narrow_;  // one of the two is empty
  cuda::DeviceBuffer<std::int32_t> wide_;
  cuda::DeviceBuffer<float> residual_;
  cuda::DeviceBuffer<float2> sums_;
  cuda::DeviceBuffer<float> shrink_, vectors_, zeros_, old_, packed_;
  bool by_warp_ = false;
};

class CcdDevice : public Algorithm {
 public:
  explicit CcdDevice(const Params& params) : settings_(read_settings(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, settings_.factors, train, initial);
    stream_ = context.stream;
    shape_ = initial;
    held_ = kNone;
    const auto ratings = cuda::ratings_on_device(train, context);
    items_ = DeviceSide(settings_, ratings->columns(stream_), train.n_users(), 3, stream_);
    ratings->release_columns();
    users_ = DeviceSide(settings_, ratings->rows(), train.n_items(), 2, stream_);
    ratings->release_rows();
    work_ = epoch_work(settings_, train.nnz(), rated_shape(train, context).rows);
    start(initial, context);
    users_.warm_up({items_.vector(kNone), items_.vector(kNone), items_.vector(kNone)}, stream_);
    items_.warm_up({users_.vector(kNone), users_.old(), users_.vector(kNone)}, stream_);
    if (settings_.start == Start::zero) return;
    users_.subtract(items_, stream_);  // R = r - P Q^T
    items_.subtract(users_, stream_);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    phases_ = context.phases;
    const auto updates = static_cast<std::int64_t>(work_.updates);
    for (int k = 0; k < settings_.factors; ++k) {
      if (k > 0 && context.stop_requested && context.stop_requested()) {
        return updates * k / settings_.factors;
      }
      sweep_factor(settings_.sweep, k, held_, *this);
    }
    return updates;
  }

  // ---- the steps of sweep_factor
  void change(Half half, int k, float sign) {
    const PhaseScope phase(phases_, "residual");
    side(half).change(k, sign, other(half).vector(k), stream_);
  }
  void exchange(Half half, int k, int held) {
    const PhaseScope phase(phases_, half == Half::users ? "users" : "items");
    const float* now = other(half).vector(k);
    const float* old = half == Half::users ? now : users_.old();
    side(half).exchange(k, held, {other(half).vector(held), old, now}, stream_);
  }
  void solve(Half half, int k) {
    const PhaseScope phase(phases_, half == Half::users ? "users" : "items");
    side(half).solve(k, other(half).vector(k), stream_);
  }

  FactorView factors() override {
    return make_view(shape_, Location::device, users_.pack(stream_), items_.pack(stream_),
                     row_stride(settings_.factors, sizeof(float)));
  }

  Work work_per_epoch() const override { return work_; }
  Json facts() const override {
    return {{"user_tiles", items_.tiles()},
            {"item_tiles", users_.tiles()},
            {"users_from_shared_memory", items_.shared()},
            {"items_from_shared_memory", users_.shared()},
            {"user_padding", users_.padding()},
            {"item_padding", items_.padding()}};
  }

 private:
  void start(const Model& initial, Context& context) {
    cuda::Uploader uploader(*context.team, stream_);
    const std::int64_t stride = row_stride(settings_.factors, sizeof(float));
    const auto rows = [&](cuda::RowsOf side) {
      return cuda::initial_rows<float>(initial, side, stride, uploader);
    };
    users_.start(settings_.start == Start::zero
                     ? cuda::zeros<float>(initial.n_users * stride, stream_)
                     : rows(cuda::RowsOf::users),
                 stream_);
    items_.start(rows(cuda::RowsOf::items), stream_);
  }

  DeviceSide& side(Half half) { return half == Half::users ? users_ : items_; }
  DeviceSide& other(Half half) { return half == Half::users ? items_ : users_; }

  Settings settings_;
  cudaStream_t stream_ = nullptr;
  PhaseSink* phases_ = nullptr;
  ModelShape shape_;
  Work work_;
  int held_ = kNone;
  DeviceSide users_, items_;
};

const RegisterFactory registered("ccd++", [](const Params& params) {
  return std::make_unique<CcdDevice>(params);
});

}  // namespace
}  // namespace mf::ccd
