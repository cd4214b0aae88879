// als_fused, our own ALS: each row's system is formed on the tensor cores and solved by CG in one
// kernel; A_u never leaves the registers.
#include <memory>

#include "algorithms/als/device_center.hpp"
#include "algorithms/als/fused/steps.hpp"
#include "algorithms/core/cuda/ranks/on_devices.hpp"
#include "algorithms/core/rank_train.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "base/json/json.hpp"

namespace mf::als {
namespace {

class AlsFused : public cuda::OnDevices<> {
 public:
  explicit AlsFused(const FusedSettings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    const Common& common = settings_.common;
    check_initial(ModelKind::plain, common.model_factors(), train, initial);
    nnz_ = all_ratings(train, context);
    if (context.ranks != nullptr) return prepare_share(train, initial, context);
    const StreamingNeed need =
        fused_need(settings_, {train.n_users(), train.n_items(), train.nnz()});
    cuda::resident_or_streamed(
        settings_.streaming, need,
        [&] {
          const auto ratings = cuda::ratings_on_device(train, context);
          center_ =
              DeviceCenter(initial, common.center, row_reg_of(common), *ratings, context.stream);
          steps_ = FusedSteps(settings_, *ratings, center_.residual(), initial, context);
          if (common.solves_biases()) steps_.solve_biases(center_);
        },
        [&](const PieceRule& rule) {
          const auto ratings = cuda::stream_ratings(train, rule, context);
          center_ =
              DeviceCenter(initial, common.center, row_reg_of(common), *ratings, context.stream);
          steps_ = FusedSteps(settings_, ratings, center_.residual(), initial, context);
        });
    work_ = iteration_work(common, Solver::cg, nnz_, rated_shape(train, context).rows);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    const bool users_first = settings_.common.first == FirstSide::users;
    half_step(users_first, context);
    // All ranks stop together.
    const bool single = devices_ == nullptr;
    if (single && context.stop_requested && context.stop_requested()) return nnz_;
    half_step(!users_first, context);
    return 2 * nnz_;
  }

  FactorView factors() override {
    return center_.view(steps_.x(), steps_.theta(), steps_.stride());
  }

  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return steps_.facts(); }

 private:
  void prepare_share(const Ratings& train, const Model& initial, Context& context) {
    const Common& common = settings_.common;
    Communicator& ranks = *context.ranks->group;
    auto& devices = cuda::DeviceCommunicator::of(ranks);
    prepare_on(devices, context, [&] {
      const auto shard = [&](View<const std::int64_t> offsets) {
        return FusedSteps::shard(settings_, offsets, ranks, *context.team);
      };
      cuda::RankRatings ratings(train, context, shard, shard, devices);
      center_ = DeviceCenter(initial, common.center, row_reg_of(common), ratings, context.stream);
      steps_ = FusedSteps(settings_, ratings, center_.residual(), initial, context);
    });
    work_ = iteration_work(common, Solver::cg, nnz_, rated_shape(train, context).rows);
  }

  void half_step(bool users, Context& context) {
    {
      const PhaseScope phase(context.phases, users ? "update_x" : "update_theta");
      users ? steps_.update_x(context.stream) : steps_.update_theta(context.stream);
    }
    join(context);
  }

  void join(Context& context) {
    if (devices_ == nullptr) return;
    const PhaseScope phase(context.phases, "exchange");
    steps_.join(context.stream);
  }

  void gather(cudaStream_t stream) override { steps_.gather(stream); }

  FusedSettings settings_;
  std::int64_t nnz_ = 0;
  Work work_;
  DeviceCenter center_;
  FusedSteps steps_;
};

const RegisterFactory kFused("als_fused", [](const Params& params) {
  return std::make_unique<AlsFused>(read_fused_settings(params));
});

}  // namespace
}  // namespace mf::als
