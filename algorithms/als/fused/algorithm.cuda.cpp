// als_fused, our own ALS: each row's system is formed on the tensor cores and solved by CG in one
// kernel; A_u never leaves the registers.
#include <memory>

#include "algorithms/als/device_center.hpp"
#include "algorithms/als/fused/steps.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd_params.hpp"
#include "base/json.hpp"

namespace mf::als {
namespace {

class AlsFused : public Algorithm {
 public:
  explicit AlsFused(const FusedSettings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    const Common& common = settings_.common;
    check_initial(ModelKind::plain, common.factors, train, initial);
    nnz_ = train.nnz();
    const auto ratings = cuda::ratings_on_device(train, context);
    const cudaStream_t stream = context.stream;
    center_ = DeviceCenter(initial, common.center, common.reg, *ratings, stream);
    steps_ = FusedSteps(settings_, *ratings, center_.residual(), initial, context);
    work_ = iteration_work(common, Solver::cg, nnz_,
                           ratings->rating_users(stream) + ratings->rated_items(stream));
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    {
      const PhaseScope phase(context.phases, "update_x");
      steps_.update_x(context.stream);
    }
    if (context.stop_requested && context.stop_requested()) return nnz_;
    const PhaseScope phase(context.phases, "update_theta");
    steps_.update_theta(context.stream);
    return 2 * nnz_;
  }

  FactorView factors() override {
    return center_.view(steps_.x(), steps_.theta(), steps_.stride());
  }

  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return steps_.facts(); }

 private:
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
