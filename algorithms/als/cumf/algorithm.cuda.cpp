// cuMF_ALS: ALS with weighted lambda on a GPU. Minimizes
//   sum (r - x_u . theta_v)^2 + lambda (sum n_u^e |x_u|^2 + sum n_v^e |theta_v|^2)
// by turns: get_hermitian and get_bias form A_u and b_u of a batch of rows, solve solves them.
#include <memory>

#include "algorithms/als/cumf/reduced_steps.hpp"
#include "algorithms/als/cumf/steps.hpp"
#include "algorithms/als/device_center.hpp"
#include "algorithms/core/cuda/ranks/on_devices.hpp"
#include "algorithms/core/rank_train.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "base/json/json.hpp"

namespace mf::als {
namespace {

class Als : public cuda::OnDevices<> {
 public:
  explicit Als(const AlsSettings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    const Common& common = settings_.common;
    check_initial(ModelKind::plain, common.model_factors(), train, initial);
    nnz_ = all_ratings(train, context);
    if (context.ranks != nullptr) return prepare_share(train, initial, context);
    const cudaStream_t stream = context.stream;
    const auto ratings = cuda::ratings_on_device(train, context);
    center_ = DeviceCenter(initial, common.center, row_reg_of(common), *ratings, stream);
    steps_ =
        std::make_unique<DeviceSteps>(settings_, *ratings, center_.residual(), initial, context);
    if (common.solves_biases()) steps_->solve_biases(center_);
    work_ = iteration_work(common, settings_.solver, nnz_, rated_shape(train, context).rows);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    const bool users_first = settings_.common.first == FirstSide::users;
    if (!steps_->half_step(users_first ? Which::users : Which::items, context)) return 0;
    if (!steps_->half_step(users_first ? Which::items : Which::users, context)) return nnz_;
    return 2 * nnz_;
  }

  FactorView factors() override {
    return center_.view(steps_->factors(Which::users), steps_->factors(Which::items),
                        steps_->stride());
  }

  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return steps_->facts(); }

 private:
  void prepare_share(const Ratings& train, const Model& initial, Context& context) {
    const Common& common = settings_.common;
    auto& devices = cuda::DeviceCommunicator::of(*context.ranks->group);
    const auto shard = [&](View<const std::int64_t> offsets) {
      const RowCost cost = ratings_and(row_cost(common, settings_.solver));
      return shard_rows(offsets, cost, *context.ranks->group, 1, *context.team);
    };
    prepare_on(devices, context, [&] {
      cuda::RankRatings ratings(train, context, shard, shard, devices);
      center_ = DeviceCenter(initial, common.center, row_reg_of(common), ratings, context.stream);
      steps_ = steps_of_rank(train, ratings, initial, context);
      if (common.solves_biases()) steps_->solve_biases(center_);
    });
    work_ = iteration_work(common, settings_.solver, nnz_, rated_shape(train, context).rows);
  }

  std::unique_ptr<HalfSteps> steps_of_rank(const Ratings& train, cuda::RankRatings& ratings,
                                           const Model& initial, Context& context) const {
    const DeviceResidual residual = center_.residual();
    if (settings_.exchange == Exchange::gather) {
      return std::make_unique<DeviceSteps>(settings_, ratings, residual, initial, context);
    }
    return std::make_unique<ReducedSteps>(settings_, all_user_offsets(train, context), ratings,
                                          residual, initial, context);
  }

  void gather(cudaStream_t /*stream*/) override { steps_->gather(); }

  AlsSettings settings_;
  std::int64_t nnz_ = 0;
  Work work_;
  DeviceCenter center_;
  std::unique_ptr<HalfSteps> steps_;
};

const RegisterFactory kAls("als", [](const Params& params) {
  return std::make_unique<Als>(read_als_settings(params));
});

}  // namespace
}  // namespace mf::als
