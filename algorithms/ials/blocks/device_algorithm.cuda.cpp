// `ials_pp`: iALS++ on the device. Minimizes (1) of the README by turns: all blocks of coordinates
// of the rows of X, one after the other, then those of Y.
#include <memory>

#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/ials/blocks/device_steps.hpp"
#include "algorithms/ials/blocks/settings.hpp"
#include "base/json/json.hpp"

namespace mf::ials {
namespace {

class IalsPp : public Algorithm {
 public:
  explicit IalsPp(const IalsPpSettings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, settings_.common.factors, train, initial);
    shape_ = initial;
    const auto ratings = cuda::ratings_on_device(train, context);
    DevicePairs pairs(train, settings_.common.loss, *ratings, context.stream);
    pairs_ = pairs.count();
    steps_ = std::make_unique<BlockSteps>(settings_, pairs, initial, context);
    work_ = pp_work(settings_.common, settings_.block_size, pairs_, pairs.rated_rows());
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    if (!steps_->half_step(true, context)) return 0;
    if (!steps_->half_step(false, context)) return pairs_;
    return 2 * pairs_;
  }

  FactorView factors() override {
    return make_view(shape_, Location::device, steps_->factors(true), steps_->factors(false),
                     steps_->stride());
  }

  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return steps_->facts(); }

 private:
  IalsPpSettings settings_;
  ModelShape shape_;
  std::int64_t pairs_ = 0;  // observed
  Work work_;
  std::unique_ptr<BlockSteps> steps_;
};

const RegisterFactory kIalsPp("ials_pp", [](const Params& params) {
  return std::make_unique<IalsPp>(read_ials_pp_settings(params));
});

}  // namespace
}  // namespace mf::ials
