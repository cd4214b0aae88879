// ials_fused, our own implicit ALS: the Gram matrix of a half-step is made the identity, then each
// row's system is formed on the tensor cores and solved by CG in one kernel.
#include "algorithms/core/cuda/ranks/on_devices.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/ials/fused/steps.hpp"
#include "base/json/json.hpp"

namespace mf::ials {
namespace {

class IalsFused : public cuda::OnDevices<> {
 public:
  explicit IalsFused(const FusedSettings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    const Common& common = settings_.common;
    check_initial(ModelKind::plain, common.factors, train, initial);
    shape_ = initial;
    if (context.ranks != nullptr) return prepare_share(train, initial, context);
    std::int64_t filled = 0;
    const auto count = [&](DevicePairs& pairs) {
      nnz_ = pairs.count();
      filled = pairs.rated_rows();
    };
    cuda::resident_or_streamed(
        settings_.streaming, fused_need(settings_, {train.n_users(), train.n_items(), train.nnz()}),
        [&] {
          const auto ratings = cuda::ratings_on_device(train, context);
          DevicePairs pairs(train, common.loss, *ratings, context.stream);
          steps_ = FusedSteps(settings_, pairs, initial, context);
          count(pairs);
        },
        [&](const PieceRule& rule) {
          const auto ratings = cuda::stream_ratings(train, rule, context);
          DevicePairs pairs(train, common.loss, *ratings, context.stream);
          steps_ = FusedSteps(settings_, pairs, ratings, initial, context);
          count(pairs);
        });
    work_ = iteration_work(common, Solver::cg, Normal::formed, nnz_, filled);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    {
      const PhaseScope phase(context.phases, "gram");
      steps_.whiten_y();
    }
    {
      const PhaseScope phase(context.phases, "update_x");
      steps_.update_x();
    }
    // All ranks stop together.
    const bool single = devices_ == nullptr;
    if (single && context.stop_requested && context.stop_requested()) return nnz_;
    {
      const PhaseScope phase(context.phases, "gram");
      steps_.whiten_x();
    }
    const PhaseScope phase(context.phases, "update_y");
    steps_.update_y();
    return 2 * nnz_;
  }

  FactorView factors() override {
    steps_.check();
    return make_view(shape_, Location::device, steps_.x(), steps_.y(), steps_.stride());
  }

  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return steps_.facts(); }

 private:
  void prepare_share(const Ratings& train, const Model& initial, Context& context) {
    const Common& common = settings_.common;
    auto& devices = cuda::DeviceCommunicator::of(*context.ranks->group);
    const auto shard = [&](View<const std::int64_t> offsets) {
      return FusedSteps::shard(settings_, offsets, *context.ranks->group, *context.team);
    };
    std::int64_t filled = 0;
    prepare_on(devices, context, [&] {
      cuda::RankRatings ratings(train, context, shard, shard, devices);
      DevicePairs pairs(train, common.loss, ratings, context.stream);
      nnz_ = pairs.count();
      steps_ = FusedSteps(settings_, pairs, ratings.user_shards(), ratings.item_shards(), &devices,
                          initial, context);
      filled = pairs.rated_rows();
    });
    work_ = iteration_work(common, Solver::cg, Normal::formed, nnz_, filled);
  }

  void gather(cudaStream_t /*stream*/) override { steps_.gather(); }

  FusedSettings settings_;
  std::int64_t nnz_ = 0;
  Work work_;
  ModelShape shape_;
  FusedSteps steps_;
};

const RegisterFactory kFused("ials_fused", [](const Params& params) {
  return std::make_unique<IalsFused>(read_fused_settings(params));
});

}  // namespace
}  // namespace mf::ials
