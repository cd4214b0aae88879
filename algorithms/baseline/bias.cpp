// Biases of users and items around the mean, without factors:
//   r_hat(u, i) = mu + b_u + c_i
// A pass solves the side of the items, then that of the users, each with the other one fixed:
//   c_i = sum over the users u of i (r_ui - mu - b_u) / (reg_item + number of ratings of i)
//   b_u = sum over the items i of u (r_ui - mu - c_i) / (reg_user + number of ratings of u)
// The first pass, from b = 0, is section 2.1 of Y. Koren, "Factor in the Neighbors: Scalable and
// Accurate Collaborative Filtering", TKDD 4(1), 2010. Passes fall to the minimum of
//   sum (r_ui - mu - b_u - c_i)^2 + reg_user sum b_u^2 + reg_item sum c_i^2
#include "algorithms/als/center.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::baseline {
namespace {

class Bias : public Algorithm {
 public:
  explicit Bias(const Params& params)
      : reg_user_(params.number("reg_user"), 0), reg_item_(params.number("reg_item"), 0) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    train_ = &train;
    by_item_ = make_csc(train, context.team->size());
    model_ = initial;
    model_.rule.reset();
    model_.p.assign(train.n_users(), 0.0F);
    model_.q.assign(train.n_items(), 0.0F);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    const als::Side items = {by_item_.item_offsets, by_item_.users, by_item_.values};
    const als::Side users = {train_->user_offsets(), train_->items(), train_->values()};
    als::solve_biases(items, model_.mean, reg_item_, model_.user_bias, model_.item_bias,
                      *context.team);
    als::solve_biases(users, model_.mean, reg_user_, model_.item_bias, model_.user_bias,
                      *context.team);
    return 2 * train_->nnz();
  }

  FactorView factors() override { return model_.view(); }

  Work work_per_epoch() const override {
    const auto nnz = static_cast<double>(train_->nnz());
    const auto rows = static_cast<double>(train_->n_users()) + train_->n_items();
    return {2 * nnz, 16 * nnz + 16 * rows, 6 * nnz + 2 * rows};
  }

 private:
  als::RowReg reg_user_, reg_item_;  // the same for all rows
  const Ratings* train_ = nullptr;
  Csc by_item_;
  Model model_;
};

const RegisterFactory kBias("bias",
                            [](const Params& params) { return std::make_unique<Bias>(params); });

}  // namespace
}  // namespace mf::baseline
