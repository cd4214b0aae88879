// ALS for implicit feedback on the CPU: minimizes (1) of README.md by turns, X and then Y.
//
// ials_cpu: with Y fixed, each x_u solves
//   (Y^T Y + l_u I + sum w y_i y_i^T) x_u = sum (1 + w) y_i      over the observed pairs of u,
// by Cholesky, or by CG from its last value without forming the matrix; then Y from X likewise.
//
// ials_pp_cpu, iALS++: a row is not solved at once but by a Newton step for each block B of its
// coordinates in turn, the others fixed:
//   x_B += (G_BB + l I + sum w y_B y_B^T)^-1 (sum (1 + w (1 - y . x)) y_B - (G x)_B - l x_B)
// over the row's observed pairs, whose predictions y . x are kept and moved with the block.
#include <cmath>
#include <memory>

#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/ials/blocks/block_step.hpp"
#include "algorithms/ials/blocks/settings.hpp"
#include "algorithms/ials/cpu/cg_step.hpp"
#include "algorithms/ials/settings.hpp"
#include "algorithms/ials/sides.hpp"

namespace mf::ials {
namespace {

using als::cpu::FactorTable;

// A_u and b_u of (2) for als::cpu::HalfStep, which forms and solves them. Kernels sum w y y^T as
// outer products of sqrt(w) y, and (c + w) y as (c + w) / sqrt(w) times it; G and l are added last.
// `regs` are l of the rows of the side.
class ImplicitTerms : public als::cpu::RowTerms {
 public:
  ImplicitTerms(const Gram& gram, const AlignedVector<float>& regs, std::int32_t factors)
      : gram_(gram), regs_(regs), factors_(factors) {}

  als::cpu::RowRatings ratings(const als::Side& side, std::int64_t begin, std::int64_t end,
                               AlignedVector<float>& buffer) const override {
    const std::int64_t count = end - begin;
    buffer.resize(2 * count);
    float* scales = buffer.data();
    float* values = scales + count;
    for (std::int64_t k = 0; k < count; ++k) {
      const float w = side.values[begin + k];
      scales[k] = std::sqrt(w);
      values[k] = (side.unobserved_of(begin + k) + w) / scales[k];
    }
    return {side.others.data() + begin, values, count, scales};
  }

  void complete(std::int64_t row, std::int64_t /*count*/, float* a,
                std::int64_t stride) const override {
    for (std::int64_t j = 0; j < factors_; ++j) {  // the upper half, which the kernels wrote
      const float* gram = gram_.data() + j * stride;
      for (std::int64_t i = 0; i <= j; ++i) a[j * stride + i] += gram[i];
      a[j * stride + j] += regs_[row];
    }
  }

 private:
  const Gram& gram_;
  const AlignedVector<float>& regs_;
  std::int32_t factors_;
};

// A half-step solves the rows of one.
struct Half {
  als::Side side;
  std::int64_t others = 0;  // rows of the other one
  AlignedVector<float> regs;
  als::cpu::RowPlan plan;
  cpu::CgPlan cg_plan;  // instead of it
};

class OnCpu : public Algorithm {
 public:
  explicit OnCpu(const Params& params) : common_(read_common(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, common_.factors, train, initial);
    ThreadTeam& team = *context.team;
    shape_ = initial;
    sides_ = Sides(train, common_.loss, team);
    x_ = FactorTable(initial.p, common_.factors, sides_.users(), team);
    y_ = FactorTable(initial.q, common_.factors, sides_.items(), team);
    users_ = half_of(sides_.users(), train.n_items(), team);
    items_ = half_of(sides_.items(), train.n_users(), team, sides_.unobserved());
    const Isa isa = choose_isa("auto");
    gram_kernels_ = als::cpu::formation_kernels(isa);
    start(isa, team);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    const std::int64_t pairs = users_.side.nnz();
    if (!update("update_x", users_, y_, x_, context)) return 0;
    if (!update("update_y", items_, x_, y_, context)) return pairs;
    return 2 * pairs;
  }

  FactorView factors() override {
    return make_view(shape_, Location::host, x_.view().data, y_.view().data, x_.view().stride);
  }

 protected:
  virtual void start(Isa isa, ThreadTeam& team) = 0;
  virtual void plan(Half& half, const ThreadTeam& team) const {
    half.plan = als::cpu::make_row_plan(half.side, common_.factors, team.size());
  }
  // False: asked to stop.
  virtual bool solve(const Half& half, const FactorTable& from, FactorTable& to,
                     Context& context) = 0;

  Common common_;
  Sides sides_;
  FactorTable x_, y_;
  Gram gram_;  // of the side that is fixed

 private:
  Half half_of(const als::Side& side, std::int64_t others, const ThreadTeam& team,
               View<const float> unobserved = {}) const {
    Half half = {side, others, row_regs(side, others, common_.loss, unobserved), {}, {}};
    plan(half, team);
    return half;
  }

  bool update(const char* phase, const Half& half, const FactorTable& from, FactorTable& to,
              Context& context) {
    {
      const PhaseScope scope(context.phases, "gram");
      gram_.compute(from.view(), half.others, gram_kernels_, *context.team, half.side.unobserved);
    }
    const PhaseScope scope(context.phases, phase);
    return solve(half, from, to, context);
  }

  ModelShape shape_;
  Half users_, items_;
  als::cpu::FormationKernels gram_kernels_;
};

class IalsCpu : public OnCpu {
 public:
  explicit IalsCpu(const Params& params) : OnCpu(params), solver_(read_solver(params)) {}

  Work work_per_epoch() const override {
    const Normal normal = solver_ == Solver::cg ? Normal::applied : Normal::formed;
    return iteration_work(common_, solver_, normal, sides_.users().nnz(), sides_.filled_rows());
  }

 private:
  void start(Isa isa, ThreadTeam& team) override {
    if (solver_ == Solver::cg) {
      cg_ = std::make_unique<cpu::CgHalfStep>(common_.factors, common_.cg.steps, isa, team);
    } else {
      const als::Common common = {common_.factors, common_.loss.reg, als::CenterKind::none, {}};
      exact_ = std::make_unique<als::cpu::HalfStep>(common, als::Solver::cholesky, isa, team);
    }
  }

  void plan(Half& half, const ThreadTeam& team) const override {
    if (solver_ != Solver::cg) return OnCpu::plan(half, team);
    half.cg_plan = cpu::make_cg_plan(half.side, half.others, x_.view().stride, team.size());
  }

  bool solve(const Half& half, const FactorTable& from, FactorTable& to,
             Context& context) override {
    if (solver_ == Solver::cg) {
      return cg_->run(half.side, half.cg_plan, half.regs, gram_, from, half.others, to,
                      *context.team, context.stop_requested);
    }
    const ImplicitTerms terms(gram_, half.regs, common_.factors);
    return exact_->run(half.side, half.plan, terms, from, to, *context.team,
                       context.stop_requested);
  }

  Solver solver_;
  std::unique_ptr<cpu::CgHalfStep> cg_;
  std::unique_ptr<als::cpu::HalfStep> exact_;
};

class IalsPpCpu : public OnCpu {
 public:
  explicit IalsPpCpu(const Params& params) : OnCpu(params), block_size_(read_block_size(params)) {}

  Work work_per_epoch() const override {
    return pp_work(common_, block_size_, sides_.users().nnz(), sides_.filled_rows());
  }

 private:
  void start(Isa isa, ThreadTeam& team) override {
    const blocks::BlockShape shape = {common_.factors, block_size_};
    step_ = std::make_unique<blocks::BlockStep>(shape, isa, team);
  }

  bool solve(const Half& half, const FactorTable& from, FactorTable& to,
             Context& context) override {
    return step_->run(half.side, half.plan, half.regs, gram_, from, to, *context.team,
                      context.stop_requested);
  }

  std::int64_t block_size_;
  std::unique_ptr<blocks::BlockStep> step_;
};

const RegisterFactory kIals("ials_cpu",
                            [](const Params& params) { return std::make_unique<IalsCpu>(params); });
const RegisterFactory kIalsPp("ials_pp_cpu", [](const Params& params) {
  return std::make_unique<IalsPpCpu>(params);
});

}  // namespace
}  // namespace mf::ials
