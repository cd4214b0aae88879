// Minimizes  sum (r_ui - mu - b_u - c_i)^2 + reg_u sum b_u^2 + reg_i sum c_i^2
// by alternating between the sides; with the other side fixed, each bias has the closed form
//   b_u = sum over the items i of u (r_ui - mu - c_i) / (reg_u + number of ratings of u)
// and c_i likewise. mu is the mean rating and stays.
#include <algorithm>

#include "algorithms/core/registry.hpp"
#include "base/view.hpp"

namespace mf {
namespace {

constexpr std::int64_t kRowsPerChunk = 256;

// One side: row x has the ratings offsets[x] to offsets[x + 1], each with an index of the other
// side. Every row is summed by one thread in one order, so threads do not change the result.
struct Side {
  View<const std::int64_t> offsets;
  View<const std::int32_t> others;
  View<const float> values;
  double reg;
};

float closed_form(const Side& side, std::int64_t row, double mean,
                  const AlignedVector<float>& other_bias) {
  const std::int64_t begin = side.offsets[row];
  const std::int64_t end = side.offsets[row + 1];
  if (begin == end) return 0;  // also where reg is 0
  double sum = 0;
  for (std::int64_t k = begin; k < end; ++k) {
    sum += side.values[k] - mean - other_bias[side.others[k]];
  }
  return static_cast<float>(sum / (side.reg + static_cast<double>(end - begin)));
}

void solve(const Side& side, double mean, const AlignedVector<float>& other_bias,
           AlignedVector<float>& bias, ThreadTeam& team) {
  team.for_chunks(std::ssize(bias), kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      bias[row] = closed_form(side, row, mean, other_bias);
    }
  });
}

class BiasOnly : public Algorithm {
 public:
  explicit BiasOnly(const Params& params)
      : reg_user_(params.number("reg_user_bias")), reg_item_(params.number("reg_item_bias")) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    train_ = &train;
    by_item_ = make_csc(train, context.team->size());
    model_ = initial;
    std::fill(model_.p.begin(), model_.p.end(), 0.0F);
    std::fill(model_.q.begin(), model_.q.end(), 0.0F);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    {
      const PhaseScope phase(context.phases, "users");
      const Side users = {train_->user_offsets(), train_->items(), train_->values(), reg_user_};
      solve(users, model_.mean, model_.item_bias, model_.user_bias, *context.team);
    }
    if (context.stop_requested && context.stop_requested()) return train_->nnz();
    const PhaseScope phase(context.phases, "items");
    const Side items = {by_item_.item_offsets, by_item_.users, by_item_.values, reg_item_};
    solve(items, model_.mean, model_.user_bias, model_.item_bias, *context.team);
    return 2 * train_->nnz();
  }

  FactorView factors() override { return model_.view(); }

  // README.md derives it.
  Work work_per_epoch() const override {
    const auto nnz = static_cast<double>(train_->nnz());
    const auto rows = static_cast<double>(train_->n_users() + train_->n_items());
    return {2 * nnz, 16 * nnz + 16 * rows, 6 * nnz + 2 * rows};
  }

 private:
  double reg_user_, reg_item_;
  const Ratings* train_ = nullptr;
  Csc by_item_;
  Model model_;
};

const RegisterFactory registered("bias_only", [](const Params& params) {
  return std::make_unique<BiasOnly>(params);
});

}  // namespace
}  // namespace mf
