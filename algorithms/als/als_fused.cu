// als_fused, our own ALS: each row's system is formed on the tensor cores and solved by CG in one
// kernel; A_u never leaves the registers.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "algorithms/als/center.hpp"
#include "algorithms/als/fused_steps.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd_params.hpp"
#include "base/error.hpp"

namespace mf::als {
namespace {

// A rating is kept as the sum of two fp16 words.
void check_range(std::span<const float> values) {
  constexpr float kLargest = 65504.0F;
  const auto beyond = std::find_if(values.begin(), values.end(),
                                   [](float value) { return !(std::abs(value) <= kLargest); });
  if (beyond == values.end()) return;
  fail(
      ErrorKind::data,
      "als_fused: found the rating {} (after what `center` removes); expected at most {} on either "
      "side of 0, since ratings are kept in fp16; scale the ratings, or use als",
      *beyond, kLargest);
}

class AlsFused : public Algorithm {
 public:
  explicit AlsFused(const FusedSettings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    const Common& common = settings_.common;
    check_initial(ModelKind::plain, common.factors, train, initial);
    n_users_ = train.n_users();
    n_items_ = train.n_items();
    nnz_ = train.nnz();
    work_ = iteration_work(common, Solver::cg, train);
    const Center center = make_center(common.center, train, common.reg, *context.team);
    const Sides sides(train, center, *context.team);
    check_range(sides.users().values);
    const PhaseScope phase(context.phases, "transfer");
    steps_ = FusedSteps(settings_, sides, initial, context);
    if (center.kind == CenterKind::none) return;
    const auto stream = static_cast<cudaStream_t>(context.stream);
    mean_ = center.mean;
    user_bias_ = cuda::upload(std::span<const float>(center.user_bias), stream);
    item_bias_ = cuda::upload(std::span<const float>(center.item_bias), stream);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    const auto stream = static_cast<cudaStream_t>(context.stream);
    {
      const PhaseScope phase(context.phases, "update_x");
      steps_.update_x(stream);
    }
    if (context.stop_requested && context.stop_requested()) return nnz_;
    const PhaseScope phase(context.phases, "update_theta");
    steps_.update_theta(stream);
    return 2 * nnz_;
  }

  FactorView factors() override {
    FactorView view;
    view.location = Location::device;
    view.n_users = n_users_;
    view.n_items = n_items_;
    view.factors = settings_.common.factors;
    view.p = steps_.x();
    view.q = steps_.theta();
    view.p_stride = view.q_stride = steps_.stride();
    if (user_bias_.empty()) return view;
    view.user_bias = user_bias_.data();
    view.item_bias = item_bias_.data();
    view.mean = mean_;
    return view;
  }

  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return steps_.facts(); }

 private:
  FusedSettings settings_;
  std::int32_t n_users_ = 0;
  std::int32_t n_items_ = 0;
  std::int64_t nnz_ = 0;
  Work work_;
  double mean_ = 0;
  FusedSteps steps_;
  cuda::DeviceBuffer<float> user_bias_, item_bias_;
};

const RegisterFactory kFused("als_fused", [](const Params& params) {
  return std::make_unique<AlsFused>(read_fused_settings(params));
});

}  // namespace
}  // namespace mf::als
