// Bayesian probabilistic matrix factorization by Gibbs sampling, on the CPU. An epoch draws, for
// the users and then for the items, the prior of the rows given the rows (prior.hpp), and all rows
// given it and the other side (row_draw.hpp); last alpha, if it is drawn. Systems are formed and
// factorised by als_cpu.
#include <memory>
#include <numeric>

#include "algorithms/als/sides.hpp"
#include "algorithms/bpmf/noise.hpp"
#include "algorithms/bpmf/row_draw.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::bpmf {
namespace {

using als::cpu::FactorTable;

constexpr std::int64_t kMomentRows = 1024;  // summed in fp32; their sums in double

// The first rows (x, 1, 0), or x.
AlignedVector<float> first_rows(const AlignedVector<float>& factors, std::int64_t rows,
                                const RowColumns& columns) {
  const std::int64_t width = columns.gathered();
  AlignedVector<float> all(rows * width, 0.0F);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::copy_n(factors.data() + row * columns.factors, columns.factors, all.data() + row * width);
    if (columns.biased) all[row * width + columns.one()] = 1;
  }
  return all;
}

class BpmfCpu : public Algorithm {
 public:
  explicit BpmfCpu(const Params& params) : settings_(read_settings(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    const RowColumns& columns = settings_.columns;
    check_initial(ModelKind::plain, columns.factors, train, initial);
    ThreadTeam& team = *context.team;
    const RatedShape rated = rated_shape(train, context);
    work_ = draw_work(settings_, rated.nnz, rated.rows);
    seed_ = context.seed;
    sides_ = als::Sides(train, settings_.removed(), {}, team);
    shape_ = with_center(initial, sides_.center());
    make_side(users_, sides_.users(), initial.p, team);
    make_side(items_, sides_.items(), initial.q, team);
    const Isa isa = choose_isa("auto");
    kernels_ = als::cpu::formation_kernels(isa);
    const als::Common common = {columns.gathered(), 0, als::CenterKind::none, {}};
    half_step_ = std::make_unique<als::cpu::HalfStep>(common, als::Solver::cholesky, isa, team);
    if (!settings_.draws_alpha()) return;
    residuals_.assign(initial.n_items, 0.0);
    squares_ = sum_of_squares(sides_.users().values, 0, team);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    const std::int64_t nnz = sides_.users().nnz();
    sweep_ = args.epoch;
    if (!draw(true, context)) return 0;
    if (!draw(false, context)) return nnz;
    if (settings_.draws_alpha()) {
      Rng rng(key_of(seed_, sweep_, Drawn::alpha));
      const double errors = std::accumulate(residuals_.begin(), residuals_.end(), squares_);
      alpha_ = draw_alpha(errors, static_cast<double>(nnz), rng);
    }
    return 2 * nnz;
  }

  FactorView factors() override {
    const als::cpu::FactorRows p = users_.rows.view(), q = items_.rows.view();
    return as_draw(make_view(shape_, Location::host, p.data, q.data, p.stride,
                             sides_.center().user_bias.data(), sides_.center().item_bias.data()),
                   settings_, sweep_);
  }

  Work work_per_epoch() const override { return work_; }

 private:
  struct Side {
    als::Side ratings;
    als::cpu::RowPlan plan;
    AlignedVector<float> ones;
    FactorTable rows;
  };

  void make_side(Side& side, const als::Side& ratings, const AlignedVector<float>& first,
                 ThreadTeam& team) const {
    const RowColumns& columns = settings_.columns;
    side.ratings = ratings;
    side.plan = als::cpu::make_row_plan(ratings, columns.gathered(), team.size());
    side.ones.assign(kMomentRows, 1.0F);
    side.rows =
        FactorTable(first_rows(first, ratings.rows(), columns), columns.gathered(), ratings, team);
  }

  // False: asked to stop.
  bool draw(bool users, Context& context) {
    Side& side = users ? users_ : items_;
    Hyper hyper;
    {
      const PhaseScope scope(context.phases, "prior");
      Rng rng(key_of(seed_, sweep_, users ? Drawn::user_prior : Drawn::item_prior));
      hyper = draw_hyper(settings_.beta0, settings_.nu0, moments(side, *context.team), rng);
    }
    const PhaseScope scope(context.phases, users ? "update_x" : "update_theta");
    const RowPrior prior(hyper);
    const bool errors = settings_.draws_alpha() && !users;
    const RowDraw terms(settings_.columns, kernels_, prior, alpha_,
                        key_of(seed_, sweep_, users ? Drawn::users : Drawn::items),
                        errors ? residuals_.data() : nullptr);
    return half_step_->run(side.ratings, side.plan, terms, (users ? items_ : users_).rows,
                           side.rows, *context.team, context.stop_requested);
  }

  // For the rows with ratings, in the plan's order: the same for any number of threads.
  Moments moments(const Side& side, ThreadTeam& team) const {
    const als::cpu::FactorRows rows = side.rows.view();
    const std::int64_t stride = rows.stride;
    const auto count = std::ssize(side.plan.rows);
    const std::int64_t parts = (count + kMomentRows - 1) / kMomentRows;
    std::vector<AlignedVector<float>> sums(parts);
    team.for_each(parts, 1, [&](std::int64_t part) {
      const std::int64_t begin = part * kMomentRows;
      const std::int64_t some = std::min(kMomentRows, count - begin);
      AlignedVector<float> panel(kPanelRows * stride);
      sums[part].assign(stride * (stride + 1), 0.0F);
      float* a = sums[part].data();
      kernels_.form(rows, {side.plan.rows.data() + begin, side.ones.data(), some},
                    {a, a + stride * stride, panel.data(), kPanelRows});
    });
    return add_parts(sums, static_cast<double>(count), stride);
  }

  Moments add_parts(const std::vector<AlignedVector<float>>& parts, double count,
                    std::int64_t stride) const {
    const std::int64_t size = settings_.columns.drawn();
    Moments moments = {count, Eigen::VectorXd::Zero(size), Eigen::MatrixXd::Zero(size, size)};
    for (const auto& part : parts) {
      for (std::int32_t j = 0; j < size; ++j) {
        const std::int64_t to = settings_.columns.place(j);
        moments.sum(j) += part[stride * stride + to];
        for (std::int32_t i = 0; i <= j; ++i) {
          moments.square(i, j) += part[to * stride + settings_.columns.place(i)];
        }
      }
    }
    moments.square.triangularView<Eigen::StrictlyLower>() = moments.square.transpose();
    return moments;
  }

  static constexpr std::int64_t kPanelRows = 64;

  Settings settings_;
  std::uint64_t seed_ = 0;
  std::int64_t sweep_ = 0;
  double alpha_ = settings_.first_alpha();
  double squares_ = 0;             // of the ratings
  std::vector<double> residuals_;  // of the items
  Work work_;
  ModelShape shape_;
  als::Sides sides_;
  Side users_, items_;
  als::cpu::FormationKernels kernels_;
  std::unique_ptr<als::cpu::HalfStep> half_step_;
};

const RegisterFactory registered("bpmf_cpu", [](const Params& params) {
  return std::make_unique<BpmfCpu>(params);
});

}  // namespace
}  // namespace mf::bpmf
