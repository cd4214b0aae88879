// als_fused, our own ALS: each row's system is formed on the tensor cores and solved by CG in one
// kernel; A_u never leaves the registers.
#include <algorithm>
#include <cmath>

#include "algorithms/als/device_center.hpp"
#include "algorithms/als/fused/steps.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd_params.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

namespace mf::als {
namespace {

// Sums of CG grow with the fifth power of the ratings' scale, and A may share its fp16 scale with
// their squares: README.md, Precision.
void check_range(View<const float> values) {
  constexpr float kLargest = 512.0F;
  const auto beyond = std::find_if(values.begin(), values.end(),
                                   [](float value) { return !(std::abs(value) <= kLargest); });
  if (beyond == values.end()) return;
  fail(
      ErrorKind::data,
      "als_fused: found the rating {} (after what `center` removes); expected at most {} on either "
      "side of 0, where fp16 and the solver's sums are safe; scale the ratings, or use als",
      *beyond, kLargest);
}

class AlsFused : public Algorithm {
 public:
  explicit AlsFused(const FusedSettings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    const Common& common = settings_.common;
    check_initial(ModelKind::plain, common.factors, train, initial);
    nnz_ = train.nnz();
    work_ = iteration_work(common, Solver::cg, train);
    const Sides sides(train, common.center, common.reg, *context.team);
    check_range(sides.users().values);
    const PhaseScope phase(context.phases, "transfer");
    steps_ = FusedSteps(settings_, sides, initial, context);
    cuda::Uploader uploader(*context.team, context.stream);
    center_ = DeviceCenter(initial, sides.center(), uploader);
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
