// ALS with weighted lambda on the CPU. Minimizes
//   sum (r - x_u . theta_v)^2 + lambda (sum n_u^e |x_u|^2 + sum n_v^e |theta_v|^2)
// by turns: with Theta fixed, each x_u solves  A_u x_u = b_u,  where over the ratings of u
//   A_u = sum theta_v theta_v^T + lambda n_u^e I,    b_u = sum r_uv theta_v,
// and then Theta from X likewise (or Theta first). e is 1 unless `reg_power` says otherwise; r has
// its center removed (center.hpp). With `center: solved` each row has its bias as an unknown.
//
// For several ranks each solves a range of the rows of X and one of Theta, and after each half-step
// every rank gets all rows. A row's equations do not depend on its rank, so neither do results.
#include <memory>

#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/als/sides.hpp"
#include "algorithms/core/rank_train.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "base/json/json.hpp"
#include "base/ranks/communicator.hpp"

namespace mf::als {
namespace {

std::int64_t ratings_of(const AlignedVector<std::int64_t>& offsets, RowRange rows) {
  return offsets[rows.end] - offsets[rows.begin];
}

// Over ranks: the owner of each row, and the exchange of rows.
class RankRows {
 public:
  // Rows are cut by their work: their ratings, and the solver's cost in ratings.
  RankRows(const RatingSlice& slice, const Common& common, Solver solver, Communicator& ranks)
      : ranks_(ranks),
        user_offsets_(slice.user_offsets),
        item_offsets_(slice.item_offsets),
        cuts_{cut_rows(user_offsets_, row_cost(common, solver), ranks.size()),
              cut_rows(item_offsets_, row_cost(common, solver), ranks.size())} {}

  // This rank's rows and columns of R, from the ranks that loaded them.
  Sides sides(const RatingSlice& slice, const Common& common, ThreadTeam& team) {
    return {slice, common.center, row_reg_of(common), team, cuts_, ranks_};
  }

  // Rows of all ranks with only their lengths: for tables of factors.
  Side all_users() const { return {user_offsets_, {}, {}}; }
  Side all_items() const { return {item_offsets_, {}, {}}; }

  const RankCuts& cuts() const { return cuts_; }

  // Call this once this rank's rows are done or given up (false). Returns true if all ranks are
  // done. The table then has all rows, and `biases`, unless empty, has the biases of all rows.
  // Phases: "wait_ranks" until the last rank is there, then "exchange".
  bool share(bool done, cpu::FactorTable& table, std::span<float> biases, const RowCuts& cuts,
             PhaseSink* phases) {
    bool all_done = false;
    {
      const PhaseScope scope(phases, "wait_ranks");
      all_done = ranks_.all_min(done ? 1 : 0) == 1;
    }
    if (!all_done) return false;
    const PhaseScope scope(phases, "exchange");
    PartOffsets floats;
    for (const std::int64_t row : cuts) floats.push_back(row * table.view().stride);
    ranks_.all_gather(table.all(), floats);
    if (!biases.empty()) ranks_.all_gather(biases, cuts);
    return true;
  }

  // Rows and ratings of this rank.
  Json facts() const {
    const RowRange users = rows_of(cuts_.users, ranks_.rank());
    const RowRange items = rows_of(cuts_.items, ranks_.rank());
    return {{"own_users", users.size()},
            {"own_items", items.size()},
            {"own_ratings_by_user", ratings_of(user_offsets_, users)},
            {"own_ratings_by_item", ratings_of(item_offsets_, items)}};
  }

 private:
  Communicator& ranks_;
  AlignedVector<std::int64_t> user_offsets_, item_offsets_;
  RankCuts cuts_;
};

class AlsCpu : public Algorithm {
 public:
  explicit AlsCpu(const Params& params)
      : common_(read_common(params)), solver_(read_solver(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, common_.model_factors(), train, initial);
    const RatedShape rated = rated_shape(train, context);
    nnz_ = rated.nnz;
    work_ = iteration_work(common_, solver_, rated.nnz, rated.rows);
    ThreadTeam& team = *context.team;
    if (context.ranks != nullptr) {
      const auto slice = slice_of_rank(train, context);
      rows_ = std::make_unique<RankRows>(*slice, common_, solver_, *context.ranks->group);
      sides_ = rows_->sides(*slice, common_, team);
    } else {
      sides_ = Sides(train, common_.center, row_reg_of(common_), team);
    }
    const auto table = [&](const AlignedVector<float>& from, const Side& side) {
      return cpu::FactorTable(from, initial.factors, side, team, common_.solves_biases());
    };
    x_ = table(initial.p, rows_ ? rows_->all_users() : sides_.users());
    theta_ = table(initial.q, rows_ ? rows_->all_items() : sides_.items());
    center_ = sides_.center();
    shape_ = with_center(initial, center_);
    user_plan_ = cpu::make_row_plan(sides_.users(), common_.factors, team.size());
    item_plan_ = cpu::make_row_plan(sides_.items(), common_.factors, team.size());
    half_step_ = std::make_unique<cpu::HalfStep>(common_, solver_, choose_isa("auto"), team);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    const std::span<float> user_bias = solved(center_.user_bias);
    const std::span<float> item_bias = solved(center_.item_bias);
    const auto update = [&](const char* phase, const Side& side, const cpu::RowPlan& plan,
                            const cpu::WeightedLambda& terms, const cpu::FactorTable& from,
                            cpu::FactorTable& to) {
      const PhaseScope scope(context.phases, phase);
      return half_step_->run(side, plan, terms, from, to, *context.team, context.stop_requested);
    };
    const auto update_x = [&] {
      const cpu::WeightedLambda terms(common_, user_bias, item_bias);
      const bool done = update("update_x", sides_.users(), user_plan_, terms, theta_, x_);
      return rows_ ? rows_->share(done, x_, user_bias, rows_->cuts().users, context.phases) : done;
    };
    const auto update_theta = [&] {
      const cpu::WeightedLambda terms(common_, item_bias, user_bias);
      const bool done = update("update_theta", sides_.items(), item_plan_, terms, x_, theta_);
      return rows_ ? rows_->share(done, theta_, item_bias, rows_->cuts().items, context.phases)
                   : done;
    };
    const bool users_first = common_.first == FirstSide::users;
    if (!(users_first ? update_x() : update_theta())) return 0;
    if (!(users_first ? update_theta() : update_x())) return nnz_;
    return 2 * nnz_;
  }

  FactorView factors() override {
    return make_view(shape_, Location::host, x_.view().data, theta_.view().data, x_.view().stride,
                     center_.user_bias.data(), center_.item_bias.data());
  }

  Work work_per_epoch() const override { return work_; }

  Json facts() const override { return rows_ ? rows_->facts() : Algorithm::facts(); }

 private:
  // The biases if they are unknowns; else empty.
  std::span<float> solved(AlignedVector<float>& biases) const {
    return {biases.data(), common_.solves_biases() ? biases.size() : 0};
  }

  Common common_;
  Solver solver_;
  std::int64_t nnz_ = 0;
  Work work_;
  ModelShape shape_;
  std::unique_ptr<RankRows> rows_;  // of several ranks
  Sides sides_;
  Center center_;
  cpu::RowPlan user_plan_, item_plan_;
  cpu::FactorTable x_, theta_;
  std::unique_ptr<cpu::HalfStep> half_step_;
};

const RegisterFactory registered("als_cpu", [](const Params& params) {
  return std::make_unique<AlsCpu>(params);
});

}  // namespace

}  // namespace mf::als
