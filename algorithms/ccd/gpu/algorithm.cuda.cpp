// CCD++ on the device: the equations of cpu/algorithm.cpp, the passes of kernels.cu.
#include "algorithms/ccd/gpu/side.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/rows.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "base/json/json.hpp"

namespace mf::ccd {
namespace {

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
