// ALS with weighted lambda on the CPU. Minimizes
//   sum (r - x_u . theta_v)^2 + lambda (sum n_u |x_u|^2 + sum n_v |theta_v|^2)
// by turns: with Theta fixed, each x_u solves  A_u x_u = b_u,  where over the ratings of u
//   A_u = sum theta_v theta_v^T + lambda n_u I,    b_u = sum r_uv theta_v,
// and then Theta from X likewise. r has its center removed (center.hpp).
#include <memory>

#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/als/sides.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd_params.hpp"

namespace mf::als {
namespace {

class AlsCpu : public Algorithm {
 public:
  explicit AlsCpu(const Params& params)
      : common_(read_common(params)), solver_(read_solver(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, common_.factors, train, initial);
    train_ = &train;
    const RatedShape rated = rated_shape(train, context);
    work_ = iteration_work(common_, solver_, rated.nnz, rated.rows);
    ThreadTeam& team = *context.team;
    sides_ = Sides(train, common_.center, common_.reg, team);
    shape_ = with_center(initial, sides_.center());
    user_plan_ = cpu::make_row_plan(sides_.users(), common_.factors, team.size());
    item_plan_ = cpu::make_row_plan(sides_.items(), common_.factors, team.size());
    x_ = cpu::FactorTable(initial.p, common_.factors, sides_.users(), team);
    theta_ = cpu::FactorTable(initial.q, common_.factors, sides_.items(), team);
    half_step_ = std::make_unique<cpu::HalfStep>(common_, solver_, choose_isa("auto"), team);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    const auto update = [&](const char* phase, const Side& side, const cpu::RowPlan& plan,
                            const cpu::FactorTable& from, cpu::FactorTable& to) {
      const PhaseScope scope(context.phases, phase);
      return half_step_->run(side, plan, from, to, *context.team, context.stop_requested);
    };
    if (!update("update_x", sides_.users(), user_plan_, theta_, x_)) return 0;
    if (!update("update_theta", sides_.items(), item_plan_, x_, theta_)) return train_->nnz();
    return 2 * train_->nnz();
  }

  FactorView factors() override {
    const Center& center = sides_.center();
    return make_view(shape_, Location::host, x_.view().data, theta_.view().data, x_.view().stride,
                     center.user_bias.data(), center.item_bias.data());
  }

  Work work_per_epoch() const override { return work_; }

 private:
  Common common_;
  Solver solver_;
  const Ratings* train_ = nullptr;
  Work work_;
  ModelShape shape_;
  Sides sides_;
  cpu::RowPlan user_plan_, item_plan_;
  cpu::FactorTable x_, theta_;
  std::unique_ptr<cpu::HalfStep> half_step_;
};

const RegisterFactory registered("als_cpu", [](const Params& params) {
  return std::make_unique<AlsCpu>(params);
});

}  // namespace

}  // namespace mf::als
