// bpmf, our own Gibbs sampler on the device: systems from the tensor cores of als_fused, factorised
// and drawn from in shared memory; priors on the host.
#include <memory>

#include "algorithms/bpmf/steps.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::bpmf {
namespace {

class Bpmf : public Algorithm {
 public:
  explicit Bpmf(const Params& params) : settings_(read_settings(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, settings_.columns.factors, train, initial);
    nnz_ = train.nnz();
    const auto ratings = cuda::ratings_on_device(train, context);
    const cudaStream_t stream = context.stream;
    center_ = als::DeviceCenter(initial, settings_.removed(), {}, *ratings, stream);
    work_ = draw_work(settings_, nnz_, rated_shape(train, context).rows);
    const double mean = center_.residual().mean;
    const double squares =
        settings_.draws_alpha() ? sum_of_squares(train.values(), mean, *context.team) : 0;
    steps_ = DrawSteps(settings_, *ratings, center_.residual(), squares, initial, context);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    sweep_ = args.epoch;
    steps_.draw(true, sweep_, context);
    if (context.stop_requested && context.stop_requested()) return nnz_;
    steps_.draw(false, sweep_, context);
    if (settings_.draws_alpha()) steps_.draw_precision(sweep_, context);
    return 2 * nnz_;
  }

  FactorView factors() override {
    return as_draw(center_.view(steps_.users(), steps_.items(), steps_.stride()), settings_,
                   sweep_);
  }

  Work work_per_epoch() const override { return work_; }

 private:
  Settings settings_;
  std::int64_t nnz_ = 0;
  std::int64_t sweep_ = 0;
  Work work_;
  als::DeviceCenter center_;
  DrawSteps steps_;
};

const RegisterFactory registered("bpmf", [](const Params& params) {
  return std::make_unique<Bpmf>(params);
});

}  // namespace
}  // namespace mf::bpmf
