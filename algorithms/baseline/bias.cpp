// Biases of users and items around the mean, without factors:
//   r_hat(u, i) = mu + b_u + c_i
// A pass solves the side of the items, then that of the users, each with the other one fixed:
//   c_i = sum over the users u of i (r_ui - mu - b_u) / (reg_item + number of ratings of i)
//   b_u = sum over the items i of u (r_ui - mu - c_i) / (reg_user + number of ratings of u)
// The first pass, from b = 0, is section 2.1 of Y. Koren, "Factor in the Neighbors: Scalable and
// Accurate Collaborative Filtering", TKDD 4(1), 2010. Passes fall to the minimum of
//   sum (r_ui - mu - b_u - c_i)^2 + reg_user sum b_u^2 + reg_item sum c_i^2
#include "algorithms/core/registry.hpp"
#include "base/view.hpp"

namespace mf::baseline {
namespace {

constexpr std::int64_t kRowsPerChunk = 256;

// Row x has the ratings offsets[x] to offsets[x + 1], each with its row of the other side.
struct Side {
  View<const std::int64_t> offsets;
  View<const std::int32_t> others;
  View<const float> values;
  double reg;
};

float solve_row(const Side& side, std::int64_t row, double mean, View<const float> other_bias) {
  const std::int64_t begin = side.offsets[row];
  const std::int64_t end = side.offsets[row + 1];
  if (begin == end) return 0;  // also if reg is 0
  double sum = 0;
  for (std::int64_t k = begin; k < end; ++k) {
    sum += static_cast<double>(side.values[k]) - mean -
           static_cast<double>(other_bias[side.others[k]]);
  }
  return static_cast<float>(sum / (side.reg + static_cast<double>(end - begin)));
}

// A row is summed by one thread in one order: threads do not change the result.
void solve(const Side& side, double mean, View<const float> other_bias, View<float> bias,
           ThreadTeam& team) {
  team.for_chunks(bias.size(), kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      bias[row] = solve_row(side, row, mean, other_bias);
    }
  });
}

class Bias : public Algorithm {
 public:
  explicit Bias(const Params& params)
      : reg_user_(params.number("reg_user")), reg_item_(params.number("reg_item")) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    train_ = &train;
    by_item_ = make_csc(train, context.team->size());
    model_ = initial;
    model_.rule.reset();
    model_.p.assign(train.n_users(), 0.0F);
    model_.q.assign(train.n_items(), 0.0F);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    const Side items = {by_item_.item_offsets, by_item_.users, by_item_.values, reg_item_};
    const Side users = {train_->user_offsets(), train_->items(), train_->values(), reg_user_};
    solve(items, model_.mean, model_.user_bias, model_.item_bias, *context.team);
    solve(users, model_.mean, model_.item_bias, model_.user_bias, *context.team);
    return 2 * train_->nnz();
  }

  FactorView factors() override { return model_.view(); }

  Work work_per_epoch() const override {
    const auto nnz = static_cast<double>(train_->nnz());
    const auto rows = static_cast<double>(train_->n_users()) + train_->n_items();
    return {2 * nnz, 16 * nnz + 16 * rows, 6 * nnz + 2 * rows};
  }

 private:
  double reg_user_, reg_item_;
  const Ratings* train_ = nullptr;
  Csc by_item_;
  Model model_;
};

const RegisterFactory kBias("bias",
                            [](const Params& params) { return std::make_unique<Bias>(params); });

}  // namespace
}  // namespace mf::baseline
