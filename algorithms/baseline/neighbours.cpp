// item_knn and rp3beta: the W of the nearest items. A user's score is the sum of the rows of W of
// his history (item_weights.hpp).
#include "algorithms/baseline/item_weights.hpp"
#include "algorithms/baseline/similarity.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::baseline {
namespace {

class ItemNeighbours : public ItemWeights {
 public:
  ItemNeighbours(const Params& params, const Rule& rule, std::int64_t k)
      : rule_(rule), k_(k), of_(params.choice("nearest_of", kOf)) {
    const std::string& by = params.choice("normalize");
    if (by != "none") normalized_ = kOf.parse(by, "normalize");
  }

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    ItemWeights::prepare(train, initial, context);
    similarity_ = Similarity(train, Side::items, rule_, context.team->size());
    w_.offsets.resize(train.n_items() + 1, 0);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    similarity_.weigh(*context.team);
    w_ = assemble(similarity_.find_nearest(k_, of_, *context.team, context.stop_requested), of_,
                  normalized_, *context.team);
    return train().nnz();
  }

  Work work_per_epoch() const override {
    const auto nnz = static_cast<double>(train().nnz());
    const double n = train().n_items();
    const double kept = n * std::min(static_cast<double>(k_), n);
    return {nnz, 16 * nnz + 8 * kept, 2 * count_products(train())};
  }

 private:
  void add_row(std::int64_t j, View<float> scores) const override {
    for (auto k = w_.offsets[j]; k < w_.offsets[j + 1]; ++k) scores[w_.columns[k]] += w_.values[k];
  }

  Rule rule_;
  std::int64_t k_;
  Of of_;
  std::optional<Of> normalized_;
  Similarity similarity_;
  SparseRows w_;
};

const RegisterFactory kItemKnn("item_knn", [](const Params& params) {
  return std::make_unique<ItemNeighbours>(params, knn_rule(params), params.integer("k"));
});
const RegisterFactory kRp3beta("rp3beta", [](const Params& params) {
  return std::make_unique<ItemNeighbours>(params, walk_rule(params), params.integer("neighbors"));
});

}  // namespace
}  // namespace mf::baseline
