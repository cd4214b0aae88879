// item_knn and rp3beta: the W of the nearest items. A user's score is the sum of the rows of W of
// his history (item_weights.hpp).
#include "algorithms/baseline/item_weights.hpp"
#include "algorithms/baseline/similarity.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::baseline {
namespace {

class ItemNeighbours : public ItemWeights {
 public:
  ItemNeighbours(const Params& params, const Rule& rule, std::int64_t k, MakeSimilarity make)
      : rule_(rule), k_(k), of_(params.choice("nearest_of", kOf)), make_(make) {
    const std::string& by = params.choice("normalize");
    if (by != "none") normalized_ = kOf.parse(by, "normalize");
  }

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    ItemWeights::prepare(train, initial, context);
    similarity_ = make_(train, Side::items, rule_, context);
    w_.offsets.resize(train.n_items() + 1, 0);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    similarity_->weigh(*context.team);
    auto nearest = similarity_->find_nearest(k_, of_, *context.team, context.stop_requested);
    const PhaseScope phase(context.phases, "assemble");
    w_ = assemble(std::move(nearest), of_, normalized_, *context.team);
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
  MakeSimilarity make_;
  std::unique_ptr<Similarity> similarity_;
  SparseRows w_;
};

constexpr MakeSimilarity kOnHost = make_similarity<Similarity>;
const RegisterFactory kItemKnn("item_knn", item_neighbours(kOnHost, knn_rule, "k"));
const RegisterFactory kRp3beta("rp3beta", item_neighbours(kOnHost, walk_rule, "neighbors"));

}  // namespace

AlgorithmFactory item_neighbours(MakeSimilarity make, Rule (*rule)(const Params&), const char* k) {
  return [=](const Params& params) {
    return std::make_unique<ItemNeighbours>(params, rule(params), params.integer(k), make);
  };
}

}  // namespace mf::baseline
