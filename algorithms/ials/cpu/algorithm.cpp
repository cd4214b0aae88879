// ALS for implicit feedback on the CPU: minimizes (1) of README.md by turns. With Y fixed, each x_u
// solves
//   (Y^T Y + l_u I + sum w y_i y_i^T) x_u = sum (1 + w) y_i      over the observed pairs of u,
// by Cholesky, or by CG from its last value without forming the matrix; then Y from X likewise.
#include <memory>

#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/ials/cpu/cg_step.hpp"
#include "algorithms/ials/cpu/implicit_terms.hpp"
#include "algorithms/ials/settings.hpp"

namespace mf::ials {
namespace {

using als::cpu::FactorTable;

class IalsCpu : public Algorithm {
 public:
  explicit IalsCpu(const Params& params)
      : common_(read_common(params)), solver_(read_solver(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, common_.factors, train, initial);
    ThreadTeam& team = *context.team;
    shape_ = initial;
    sides_ = Sides(train, common_.loss, team);
    x_ = FactorTable(initial.p, common_.factors, sides_.users(), team);
    y_ = FactorTable(initial.q, common_.factors, sides_.items(), team);
    prepare_side(sides_.users(), train.n_items(), users_, team);
    prepare_side(sides_.items(), train.n_users(), items_, team);
    const Isa isa = choose_isa("auto");
    gram_kernels_ = als::cpu::formation_kernels(isa);
    if (solver_ == Solver::cg) {
      cg_ = std::make_unique<cpu::CgHalfStep>(common_.factors, common_.cg.steps, isa, team);
    } else {
      const als::Common common = {common_.factors, common_.loss.reg, als::CenterKind::none, {}};
      exact_ = std::make_unique<als::cpu::HalfStep>(common, als::Solver::cholesky, isa, team);
    }
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    const std::int64_t pairs = sides_.users().nnz();
    if (!update("update_x", sides_.users(), users_, y_, items_.rows, x_, context)) return 0;
    if (!update("update_y", sides_.items(), items_, x_, users_.rows, y_, context)) return pairs;
    return 2 * pairs;
  }

  FactorView factors() override {
    return make_view(shape_, Location::host, x_.view().data, y_.view().data, x_.view().stride);
  }

  Work work_per_epoch() const override {
    const Normal normal = solver_ == Solver::cg ? Normal::applied : Normal::formed;
    return iteration_work(common_, solver_, normal, sides_);
  }

 private:
  struct SideState {
    std::int64_t rows = 0;
    AlignedVector<float> regs;
    als::cpu::RowPlan exact_plan;
    cpu::CgPlan cg_plan;
  };

  void prepare_side(const als::Side& side, std::int64_t others, SideState& state,
                    const ThreadTeam& team) const {
    state.rows = side.rows();
    state.regs = row_regs(side, others, common_.loss);
    if (solver_ == Solver::cg) {
      state.cg_plan = cpu::make_cg_plan(side, others, x_.view().stride, team.size());
    } else {
      state.exact_plan = als::cpu::make_row_plan(side, common_.factors, team.size());
    }
  }

  bool update(const char* phase, const als::Side& side, const SideState& state,
              const FactorTable& from, std::int64_t others, FactorTable& to, Context& context) {
    ThreadTeam& team = *context.team;
    {
      const PhaseScope scope(context.phases, "gram");
      gram_.compute(from.view(), others, gram_kernels_, team);
    }
    const PhaseScope scope(context.phases, phase);
    if (solver_ == Solver::cg) {
      return cg_->run(side, state.cg_plan, state.regs, gram_, from, others, to, team,
                      context.stop_requested);
    }
    const ImplicitTerms terms(gram_, state.regs, common_.factors);
    return exact_->run(side, state.exact_plan, terms, from, to, team, context.stop_requested);
  }

  Common common_;
  Solver solver_;
  ModelShape shape_;
  Sides sides_;
  SideState users_, items_;
  FactorTable x_, y_;
  Gram gram_;
  als::cpu::FormationKernels gram_kernels_;
  std::unique_ptr<cpu::CgHalfStep> cg_;
  std::unique_ptr<als::cpu::HalfStep> exact_;
};

const RegisterFactory registered("ials_cpu", [](const Params& params) {
  return std::make_unique<IalsCpu>(params);
});

}  // namespace
}  // namespace mf::ials
