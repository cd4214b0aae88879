// `ials`: minimizes (1) of the README by turns, all rows of X, then of Y.
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/ials/post/steps.hpp"
#include "base/json/json.hpp"

namespace mf::ials {
namespace {

class Ials : public Algorithm {
 public:
  explicit Ials(const IalsSettings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    const Common& common = settings_.common;
    check_initial(ModelKind::plain, common.factors, train, initial);
    shape_ = initial;
    const auto ratings = cuda::ratings_on_device(train, context);
    DevicePairs pairs(train, common.loss, *ratings, context.stream);
    pairs_ = pairs.count();
    steps_ = make_half_steps(settings_, pairs, initial, context);
    const bool applied = settings_.solve == Solve::cg;
    work_ = iteration_work(common, applied ? Solver::cg : settings_.solver,
                           applied ? Normal::applied : Normal::formed, pairs_, pairs.rated_rows());
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    if (!steps_->half_step(Which::users, context)) return 0;
    if (!steps_->half_step(Which::items, context)) return pairs_;
    return 2 * pairs_;
  }

  FactorView factors() override {
    return make_view(shape_, Location::device, steps_->factors(Which::users),
                     steps_->factors(Which::items), steps_->stride());
  }

  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return steps_->facts(); }

 private:
  IalsSettings settings_;
  ModelShape shape_;
  std::int64_t pairs_ = 0;  // observed
  Work work_;
  std::unique_ptr<HalfSteps> steps_;
};

const RegisterFactory kIals("ials", [](const Params& params) {
  return std::make_unique<Ials>(read_ials_settings(params));
});

}  // namespace
}  // namespace mf::ials
