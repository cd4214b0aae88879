// `ials` and `ials_pp` on the device: minimize (1) of the README by turns, all rows of X, then of
// Y.
#include <functional>
#include <memory>
#include <utility>

#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/ials/blocks/device_steps.hpp"
#include "algorithms/ials/blocks/settings.hpp"
#include "algorithms/ials/post/steps.hpp"
#include "base/json/json.hpp"

namespace mf::ials {
namespace {

// The differences between the two.
struct Scheme {
  std::function<std::unique_ptr<HalfSteps>(DevicePairs&, const Model&, Context&)> make_steps;
  std::function<Work(std::int64_t pairs, std::int64_t filled)> work;
};

class OnDevice : public Algorithm {
 public:
  OnDevice(Common common, Scheme scheme) : common_(common), scheme_(std::move(scheme)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, common_.factors, train, initial);
    shape_ = initial;
    const auto ratings = cuda::ratings_on_device(train, context);
    DevicePairs pairs(train, common_.loss, *ratings, context.stream);
    pairs_ = pairs.count();
    steps_ = scheme_.make_steps(pairs, initial, context);
    work_ = scheme_.work(pairs_, pairs.rated_rows());
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
  Common common_;
  Scheme scheme_;
  ModelShape shape_;
  std::int64_t pairs_ = 0;  // observed
  Work work_;
  std::unique_ptr<HalfSteps> steps_;
};

const RegisterFactory kIals("ials", [](const Params& params) {
  const IalsSettings settings = read_ials_settings(params);
  const bool applied = settings.solve == Solve::cg;
  const auto work = [=](std::int64_t pairs, std::int64_t filled) {
    return iteration_work(settings.common, applied ? Solver::cg : settings.solver,
                          applied ? Normal::applied : Normal::formed, pairs, filled);
  };
  return std::make_unique<OnDevice>(settings.common,
                                    Scheme{std::bind_front(make_half_steps, settings), work});
});

const RegisterFactory kIalsPp("ials_pp", [](const Params& params) {
  const IalsPpSettings settings = read_ials_pp_settings(params);
  const auto make_steps = [=](DevicePairs& pairs, const Model& initial, Context& context) {
    return std::make_unique<BlockSteps>(settings, pairs, initial, context);
  };
  const auto work = [=](std::int64_t pairs, std::int64_t filled) {
    return pp_work(settings.common, settings.block_size, pairs, filled);
  };
  return std::make_unique<OnDevice>(settings.common, Scheme{make_steps, work});
});

}  // namespace
}  // namespace mf::ials
