// bpr and bpr_tiled on the device.
#include <algorithm>
#include <memory>

#include "algorithms/bpr/kernels.hpp"
#include "algorithms/bpr/observed_pairs.hpp"
#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/cuda/stored_model.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::bpr {
namespace {

class BprOnDevice : public Algorithm {
 public:
  explicit BprOnDevice(const Settings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, settings_.factors, train, initial);
    stream_ = context.stream;
    const ObservedPairs observed(train, {settings_.alpha, settings_.reg.p}, *context.team);
    work_ = epoch_work(settings_, observed.pairs().count, observed.rows());
    workers_ = settings_.workers > 0 ? settings_.workers : default_workers(initial);
    const PhaseScope phase(context.phases, "transfer");
    cuda::Uploader uploader(*context.team, context.stream);
    upload(observed.pairs(), initial.n_users, uploader);
    model_ = cuda::StoredModel(settings_.storage, initial, uploader);
    arrays_.p = model_.p();
    arrays_.q = model_.q();
    if (settings_.cosine()) {
      unit_q_ =
          cuda::DeviceBuffer<float>(initial.n_items * row_stride(settings_.factors, sizeof(float)));
      return;
    }
    set_first(settings_.storage, settings_.factors, arrays_.p, initial.n_users, 1, context.stream);
    set_first(settings_.storage, settings_.factors, arrays_.q, initial.n_items, 0, context.stream);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    if (context.stop_requested && context.stop_requested()) return 0;
    launch_epoch({settings_, arrays_, step_at(args.learning_rate, settings_.reg, 0), context.seed,
                  args.epoch, workers_, stream_});
    return arrays_.pairs.count;
  }

  // With ccl, items are scaled to length 1 in a copy: the lengths of trained rows set their steps.
  FactorView factors() override {
    FactorView view = model_.view(stream_);
    if (!settings_.cosine()) return view;
    unit_rows(view.q, view.q_stride, view.n_items, unit_q_.data(), stream_);
    view.q = unit_q_.data();
    return view;
  }
  Work work_per_epoch() const override { return work_; }

 private:
  void upload(const Pairs& from, std::int64_t n_users, cuda::Uploader& uploader) {
    offsets_ = uploader.array(View<const std::int64_t>(from.offsets, n_users + 1));
    users_ = uploader.array(View<const std::int32_t>(from.users, from.count));
    items_ = uploader.array(View<const std::int32_t>(from.items, from.count));
    if (settings_.loss == Loss::logistic) {
      values_ = uploader.array(View<const float>(from.values, from.count));
    }
    arrays_.pairs = {offsets_.data(), users_.data(), items_.data(),
                     values_.data(),  from.count,    from.n_items};
  }

  // A row that many change at once goes too far: so at most a share of the smaller side.
  static std::int64_t default_workers(const Model& initial) {
    return std::max<std::int64_t>(1, std::min(initial.n_users, initial.n_items));
  }

  Settings settings_;
  Work work_;
  std::int64_t workers_ = 1;
  cudaStream_t stream_ = nullptr;
  cuda::DeviceBuffer<std::int64_t> offsets_;
  cuda::DeviceBuffer<std::int32_t> users_, items_;
  cuda::DeviceBuffer<float> values_;
  cuda::StoredModel model_;
  cuda::DeviceBuffer<float> unit_q_;
  Arrays arrays_;  // into the above
};

RegisterFactory factory(const char* name, bool tiled) {
  return {name, [tiled](const Params& params) {
            Settings settings = read_settings(params);
            settings.tiled = tiled;
            return std::make_unique<BprOnDevice>(settings);
          }};
}
const RegisterFactory kBpr = factory("bpr", false);
const RegisterFactory kTiled = factory("bpr_tiled", true);

}  // namespace
}  // namespace mf::bpr
