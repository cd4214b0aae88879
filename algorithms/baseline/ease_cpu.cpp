// EASE (ease.hpp) by threads, the inverse in place.
#include <algorithm>

#include "algorithms/baseline/ease.hpp"
#include "algorithms/baseline/inverse.hpp"
#include "algorithms/baseline/item_weights.hpp"
#include "algorithms/baseline/products.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::baseline {
namespace {

class EaseCpu : public ItemWeights {
 public:
  explicit EaseCpu(const Params& params) : added_(params) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    ItemWeights::prepare(train, initial, context);
    products_ = Products(train, Side::items, context.team->size());
    b_ = BlockMatrix(train.n_items());
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    {
      const PhaseScope phase(context.phases, "gram");
      context.team->for_each(b_.stride(), 16, [&](std::int64_t j) { fill_gram(j); });
    }
    {
      const PhaseScope phase(context.phases, "inverse");
      if (!sweep_all(b_, *context.team, context.stop_requested)) {
        fail_not_definite("ease_cpu", added_.reg);
      }
    }
    const PhaseScope phase(context.phases, "weights");
    context.team->for_each(b_.blocks(), 1, [&](std::int64_t i) { mirror(i); });
    scale_columns(*context.team);
    trained_ = true;
    return train().nnz();
  }

  Work work_per_epoch() const override { return ease_work(train()); }

 private:
  void add_row(std::int64_t j, View<float> scores) const override {
    if (trained_) add_to(scores, b_.row(j));
  }

  // The lower triangle. An element is summed by one thread in the order of the users.
  void fill_gram(std::int64_t j) {
    b_.clear_row(j);
    if (j >= train().n_items()) return;
    float* row = b_.row(j);
    products_.for_products(products_.features(j), j + 1,
                           [row](std::int32_t i, std::int32_t) { row[i] += 1; });
    row[j] += static_cast<float>(added_.reg + added_.share * row[j]);
  }

  // The upper triangle of the rows of a block, by the lower one.
  void mirror(std::int64_t block) {
    for (auto j = block * kBlock; j < b_.stride(); ++j) {
      const auto end = std::min(j, (block + 1) * kBlock);
      for (auto i = block * kBlock; i < end; ++i) b_.row(i)[j] = b_.row(j)[i];
    }
  }

  // From -P.
  void scale_columns(ThreadTeam& team) {
    std::vector<float> by(b_.stride());
    for (std::int64_t i = 0; i < b_.stride(); ++i) by[i] = -1 / b_.row(i)[i];
    team.for_each(b_.stride(), 64, [&](std::int64_t j) {
      float* row = b_.row(j);
      for (std::int64_t i = 0; i < b_.stride(); ++i) row[i] *= by[i];
      row[j] = 0;
    });
  }

  EaseDiagonal added_;
  bool trained_ = false;
  Products products_;
  BlockMatrix b_;  // X^T X + its regularizer, then -P, then B
};

const RegisterFactory kEaseCpu("ease_cpu", [](const Params& params) {
  return std::make_unique<EaseCpu>(params);
});

}  // namespace
}  // namespace mf::baseline
