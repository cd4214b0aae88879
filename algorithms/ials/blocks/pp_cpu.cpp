// iALS++ on the CPU: (1) of README.md by turns, X and then Y. A row is not solved at once but by a
// Newton step for each block B of its coordinates in turn, the others fixed:
//   x_B += (G_BB + l I + sum w y_B y_B^T)^-1 (sum (1 + w (1 - y . x)) y_B - (G x)_B - l x_B)
// over the row's observed pairs, whose predictions y . x are kept and moved with the block.
#include <memory>

#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/ials/blocks/block_step.hpp"
#include "algorithms/ials/blocks/settings.hpp"

namespace mf::ials {
namespace {

using als::cpu::FactorTable;

class IalsPpCpu : public Algorithm {
 public:
  explicit IalsPpCpu(const Params& params)
      : common_(read_common(params)), block_size_(read_block_size(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, common_.factors, train, initial);
    ThreadTeam& team = *context.team;
    shape_ = initial;
    sides_ = Sides(train, common_.loss, team);
    x_ = FactorTable(initial.p, common_.factors, sides_.users(), team);
    y_ = FactorTable(initial.q, common_.factors, sides_.items(), team);
    users_ = prepare_side(sides_.users(), train.n_items(), team);
    items_ = prepare_side(sides_.items(), train.n_users(), team);
    const Isa isa = choose_isa("auto");
    gram_kernels_ = als::cpu::formation_kernels(isa);
    const blocks::BlockShape blocks = {common_.factors, block_size_};
    step_ = std::make_unique<blocks::BlockStep>(blocks, isa, team);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    const std::int64_t pairs = sides_.users().nnz();
    if (!update("update_x", sides_.users(), users_, y_, sides_.items().rows(), x_, context)) {
      return 0;
    }
    if (!update("update_y", sides_.items(), items_, x_, sides_.users().rows(), y_, context)) {
      return pairs;
    }
    return 2 * pairs;
  }

  FactorView factors() override {
    return make_view(shape_, Location::host, x_.view().data, y_.view().data, x_.view().stride);
  }

  Work work_per_epoch() const override { return pp_work(common_, block_size_, sides_); }

 private:
  struct SideState {
    AlignedVector<float> regs;
    als::cpu::RowPlan plan;
  };

  SideState prepare_side(const als::Side& side, std::int64_t others, const ThreadTeam& team) const {
    return {row_regs(side, others, common_.loss),
            als::cpu::make_row_plan(side, common_.factors, team.size())};
  }

  bool update(const char* phase, const als::Side& side, const SideState& state,
              const FactorTable& from, std::int64_t others, FactorTable& to, Context& context) {
    {
      const PhaseScope scope(context.phases, "gram");
      gram_.compute(from.view(), others, gram_kernels_, *context.team);
    }
    const PhaseScope scope(context.phases, phase);
    return step_->run(side, state.plan, state.regs, gram_, from, to, *context.team,
                      context.stop_requested);
  }

  Common common_;
  std::int64_t block_size_;
  ModelShape shape_;
  Sides sides_;
  SideState users_, items_;
  FactorTable x_, y_;
  Gram gram_;
  als::cpu::FormationKernels gram_kernels_;
  std::unique_ptr<blocks::BlockStep> step_;
};

const RegisterFactory registered("ials_pp_cpu", [](const Params& params) {
  return std::make_unique<IalsPpCpu>(params);
});

}  // namespace
}  // namespace mf::ials
