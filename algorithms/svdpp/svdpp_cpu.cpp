// svdpp_cpu, by the updates of svdpp.hpp: users in an order drawn anew for each epoch, the ratings
// of a user one after another.
#include <Eigen/Core>
#include <cmath>

#include "algorithms/core/random.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/svdpp/svdpp.hpp"

namespace mf::svdpp {
namespace {

using Row = Eigen::Map<Eigen::VectorXf>;

class SvdppCpu : public Algorithm {
 public:
  explicit SvdppCpu(const Params& params)
      : params_(params), f_(static_cast<std::int32_t>(params.integer("factors"))) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::biased, f_, train, initial);
    train_ = &train;
    team_ = context.team;
    model_ = initial;
    y_ = first_y(initial);
    make_rows(model_, *team_);
    make_rows(y_, *team_);
    shown_ = AlignedVector<float>(std::ssize(model_.p));
    work_ = epoch_work(f_, train.nnz(), count_filled(train.user_offsets()),
                       count_different(train.items(), train.n_items()));
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    const Step step = step_of(params_, args.learning_rate, model_.mean);
    const Permutation order = epoch_order(train_->n_users(), context.seed, args.epoch);
    std::int64_t updates = 0;
    for (std::int64_t turn = 0; turn < train_->n_users(); ++turn) {
      if (context.stop_requested && context.stop_requested()) break;
      updates += train_user(order(turn), step);
    }
    return updates;
  }

  // Y has moved since a user's turn: z is summed anew.
  FactorView factors() override {
    team_->for_each(train_->n_users(), 64,
                    [this](std::int64_t u) { row(shown_, u) = row(model_.p, u) + history(u); });
    FactorView view = model_.view();
    view.p = shown_.data();
    return view;
  }

  Work work_per_epoch() const override { return work_; }

 private:
  Row row(AlignedVector<float>& of, std::int64_t at) const { return {of.data() + at * f_, f_}; }
  View<const std::int32_t> items_of(std::int64_t u) const {
    return train_->items().part(train_->user_offsets()[u], train_->user_offsets()[u + 1]);
  }

  Eigen::VectorXf history(std::int64_t u) {
    Eigen::VectorXf z = Eigen::VectorXf::Zero(f_);
    for (const std::int32_t j : items_of(u)) z += row(y_.q, j);
    return z / std::sqrt(std::max(1.0F, static_cast<float>(items_of(u).size())));
  }

  std::int64_t train_user(std::int64_t u, const Step& step) {
    const auto items = items_of(u);
    const float* value = train_->values().data() + train_->user_offsets()[u];
    const Eigen::VectorXf before = history(u);
    Eigen::VectorXf z = before;
    Row p = row(model_.p, u);
    float& b = model_.user_bias[u];
    for (const std::int32_t i : items) {
      Row q = row(model_.q, i);
      float& c = model_.item_bias[i];
      user_ = p + z;
      const float gain = step.rate * sgd::rating_error<true>(step, *value++, b, c, q.dot(user_));
      p += gain * q - step.shrink_p * p;
      z += gain * q - step.shrink_y * z;
      q += gain * user_ - step.shrink_q * q;
      b = sgd::stepped(b, 1.0F, gain, step.shrink_user_bias);
      c = sgd::stepped(c, 1.0F, gain, step.shrink_item_bias);
    }
    const auto n = static_cast<float>(items.size());
    const float kept = std::pow(1 - step.shrink_y, n);
    z = (z - kept * before) / std::sqrt(n);
    for (const std::int32_t j : items) row(y_.q, j) = kept * row(y_.q, j) + z;
    return items.size();
  }

  Params params_;
  std::int32_t f_;
  const Ratings* train_ = nullptr;
  ThreadTeam* team_ = nullptr;
  Model model_, y_;
  Work work_;
  AlignedVector<float> shown_;  // rows p_u + z_u
  Eigen::VectorXf user_;        // p_u + z_u before an update
};

const RegisterFactory kCpu("svdpp_cpu",
                           [](const Params& params) { return std::make_unique<SvdppCpu>(params); });

}  // namespace
}  // namespace mf::svdpp
