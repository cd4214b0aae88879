// Each item's k nearest: of the items i with a user in common with j, the k with the largest
//   W_ji = x_j . x_i / (|x_j| |x_i| + shrinkage)
// the one that comes first of equal ones; the others are 0, and W_jj is. The similarity is
// ItemKNN's in M. Ferrari Dacrema, P. Cremonesi, D. Jannach, "Are We Really Making Much Progress?",
// RecSys 2019; k of each row, and the sum over the history, are of M. Deshpande, G. Karypis,
// "Item-Based Top-N Recommendation Algorithms", TOIS 22(1), 2004.
#include <algorithm>

#include "algorithms/baseline/item_products.hpp"
#include "algorithms/baseline/item_weights.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::baseline {
namespace {

constexpr std::int64_t kItemsPerChunk = 64;
constexpr std::int64_t kItemsPerPoll = 1 << 14;  // between looks at stop_requested

struct Neighbour {
  std::int32_t item;
  float similarity;
};
bool is_nearer(const Neighbour& a, const Neighbour& b) {
  return a.similarity != b.similarity ? a.similarity > b.similarity : a.item < b.item;
}

class ItemKnn : public ItemWeights {
 public:
  explicit ItemKnn(const Params& params)
      : k_(params.integer("k")), shrinkage_(params.number("shrinkage")) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    ItemWeights::prepare(train, initial, context);
    products_ = ItemProducts(train, context.team->size());
    k_ = std::min<std::int64_t>(k_, train.n_items());
    nearest_.resize(k_ * train.n_items());
    counts_.assign(train.n_items(), 0);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    norms_.resize(train().n_items());
    const auto items = std::ssize(norms_);
    context.team->for_each(items, kItemsPerChunk,
                           [&](std::int64_t j) { norms_[j] = products_.norm(j); });
    for (std::int64_t first = 0; first < items; first += kItemsPerPoll) {
      if (context.stop_requested && context.stop_requested()) break;
      const auto count = std::min(kItemsPerPoll, items - first);
      context.team->for_chunks(count, kItemsPerChunk, [&](std::int64_t begin, std::int64_t end) {
        find_nearest(first + begin, first + end);
      });
    }
    return train().nnz();
  }

  Work work_per_epoch() const override {
    const auto nnz = static_cast<double>(train().nnz());
    const double kept = static_cast<double>(k_) * train().n_items();
    return {nnz, 16 * nnz + 8 * kept, 2 * count_products(train())};
  }

 private:
  void add_row(std::int64_t j, View<float> scores) const override {
    const Neighbour* row = nearest_.data() + j * k_;
    for (std::int64_t n = 0; n < counts_[j]; ++n) scores[row[n].item] += row[n].similarity;
  }

  // Rows [begin, end) of W. A product is summed by one thread in the order of the users.
  void find_nearest(std::int64_t begin, std::int64_t end) {
    std::vector<float> sums(train().n_items(), 0.0F);
    std::vector<Neighbour> found;
    for (auto j = begin; j < end; ++j) {
      found.clear();
      products_.for_products(j, train().n_items(), [&](std::int32_t i) {
        if (sums[i] == 0) found.push_back({i, 0});
        sums[i] += 1;
      });
      for (Neighbour& one : found) {
        const auto product = static_cast<double>(sums[one.item]);
        one.similarity = static_cast<float>(product / (norms_[j] * norms_[one.item] + shrinkage_));
        sums[one.item] = 0;
      }
      std::erase_if(found, [j](const Neighbour& one) { return one.item == j; });
      keep(j, found);
    }
  }

  void keep(std::int64_t j, std::vector<Neighbour>& found) {
    const auto count = std::min(k_, std::ssize(found));
    std::partial_sort(found.begin(), found.begin() + count, found.end(), is_nearer);
    std::copy_n(found.begin(), count, nearest_.begin() + j * k_);
    counts_[j] = count;
  }

  std::int64_t k_;
  double shrinkage_;
  ItemProducts products_;
  std::vector<double> norms_;
  AlignedVector<Neighbour> nearest_;  // k of each item, the nearest first
  std::vector<std::int64_t> counts_;  // how many of them each has
};

const RegisterFactory kItemKnn("item_knn", [](const Params& params) {
  return std::make_unique<ItemKnn>(params);
});

}  // namespace
}  // namespace mf::baseline
