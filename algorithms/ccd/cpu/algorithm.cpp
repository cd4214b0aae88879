// CCD++ on the CPU. Minimizes
//   sum (r - p_u . q_i)^2 + sum lambda_u |p_u|^2 + sum lambda_i |q_i|^2
// one factor (u, v) at a time: with R^ = r - the products of all others,
//   u_i = sum_j R^_ij v_j / (lambda_i + sum_j v_j^2),    then v_j likewise;
// The residual R is kept by rows and by columns (sweep.hpp has the passes). r has its center
// removed, as in ALS.
#include <memory>

#include "algorithms/als/center.hpp"
#include "algorithms/ccd/cpu/side.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "base/host/isa.hpp"
#include "base/json/json.hpp"

namespace mf::ccd::cpu {
namespace {

class CcdCpu : public Algorithm {
 public:
  explicit CcdCpu(const Params& params)
      : settings_(read_settings(params)), kernels_(kernels(choose_isa(params.choice("simd")))) {
    center_.kind = params.choice("center", als::kCenterKinds);
  }

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, settings_.factors, train, initial);
    team_ = context.team;
    const RatedShape rated = rated_shape(train, context);
    work_ = epoch_work(settings_, rated.nnz, rated.rows);
    held_ = kNone;
    const Csc columns = make_csc(train, team_->size());
    const double power = settings_.reg_scale == RegScale::rows ? 1 : 0;
    center_ = als::make_center(center_.kind, train, columns, {settings_.reg, power}, *team_);
    shape_ = with_center(initial, center_);
    const FirstResidual first(settings_, initial);
    const auto residual = [&](std::int64_t user, std::int64_t item, float value) {
      return first(user, item,
                   center_.residual(static_cast<std::int32_t>(user),
                                    static_cast<std::int32_t>(item), value));
    };
    AlignedVector<float> p = initial.p;
    if (settings_.start == Start::zero) std::fill(p.begin(), p.end(), 0.0F);
    users_ = std::make_unique<Side>(
        settings_, SideRows{train.user_offsets(), train.items(), train.n_items()}, p, *team_,
        [&](std::int64_t user, std::int64_t source) {
          return residual(user, train.items()[source], train.values()[source]);
        });
    items_ = std::make_unique<Side>(
        settings_, SideRows{columns.item_offsets, columns.users, train.n_users()}, initial.q,
        *team_, [&](std::int64_t item, std::int64_t source) {
          return residual(columns.users[source], item, columns.values[source]);
        });
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    phases_ = context.phases;
    for (int k = 0; k < settings_.factors; ++k) {
      if (k > 0 && context.stop_requested && context.stop_requested()) {
        return static_cast<std::int64_t>(work_.updates) * k / settings_.factors;
      }
      sweep_factor(settings_.sweep, k, held_, *this);
    }
    return static_cast<std::int64_t>(work_.updates);
  }

  // ---- the steps of sweep_factor
  void change(Half half, int k, float sign) {
    const PhaseScope phase(phases_, "residual");
    side(half).change(kernels_, k, sign, other(half).vector(k), *team_);
  }
  void exchange(Half half, int k, int held) {
    const PhaseScope phase(phases_, half == Half::users ? "users" : "items");
    const float* now = other(half).vector(k);
    const float* old = half == Half::users ? now : users_->old();
    side(half).exchange(kernels_, k, held, {other(half).vector(held), old, now}, *team_);
  }
  void solve(Half half, int k) {
    const PhaseScope phase(phases_, half == Half::users ? "users" : "items");
    side(half).solve(kernels_, k, other(half).vector(k), *team_);
  }

  FactorView factors() override {
    users_->pack(p_, *team_);
    items_->pack(q_, *team_);
    return make_view(shape_, Location::host, p_.data(), q_.data(), settings_.factors,
                     center_.user_bias.data(), center_.item_bias.data());
  }

  Work work_per_epoch() const override { return work_; }
  Json facts() const override {
    return {{"user_tiles", items_->layout().tiles}, {"item_tiles", users_->layout().tiles}};
  }

 private:
  Side& side(Half half) { return half == Half::users ? *users_ : *items_; }
  Side& other(Half half) { return half == Half::users ? *items_ : *users_; }

  Settings settings_;
  als::Center center_;
  Kernels kernels_;
  ThreadTeam* team_ = nullptr;
  PhaseSink* phases_ = nullptr;
  ModelShape shape_;
  Work work_;
  int held_ = kNone;
  std::unique_ptr<Side> users_, items_;
  AlignedVector<float> p_, q_;  // of factors()
};

const RegisterFactory registered("ccd++_cpu", [](const Params& params) {
  return std::make_unique<CcdCpu>(params);
});

}  // namespace
}  // namespace mf::ccd::cpu
