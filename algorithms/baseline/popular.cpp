// All users are recommended the same:
//   score(u, i) = users observed with i / all users
// as a plain model of one factor, p_u = 1. Values say only whether a pair was observed: those above
// 0 were.
#include <algorithm>

#include "algorithms/core/registry.hpp"

namespace mf::baseline {
namespace {

class Popular : public Algorithm {
 public:
  void prepare(const Ratings& train, const Model& initial, Context&) override {
    train_ = &train;
    model_ = initial;
    model_.rule.reset();
    model_.p.assign(train.n_users(), 1.0F);
    model_.q.assign(train.n_items(), 0.0F);
  }

  std::int64_t run_epoch(const EpochArgs&, Context&) override {
    std::vector<std::int64_t> users(train_->n_items(), 0);
    for (std::int64_t k = 0; k < train_->nnz(); ++k) {
      if (train_->values()[k] > 0) ++users[train_->items()[k]];
    }
    const auto all = static_cast<double>(train_->n_users());
    std::transform(users.begin(), users.end(), model_.q.begin(), [all](std::int64_t count) {
      return static_cast<float>(static_cast<double>(count) / all);
    });
    return train_->nnz();
  }

  FactorView factors() override { return model_.view(); }

  Work work_per_epoch() const override {
    const auto nnz = static_cast<double>(train_->nnz());
    const auto items = static_cast<double>(train_->n_items());
    return {nnz, 8 * nnz + 4 * items, nnz + items};
  }

 private:
  const Ratings* train_ = nullptr;
  Model model_;
};

const RegisterFactory kPopular("popular",
                               [](const Params&) { return std::make_unique<Popular>(); });

}  // namespace
}  // namespace mf::baseline
