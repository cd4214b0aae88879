// The nearest users of a history h, by their items:
//   score(h, i) = t_i sum over the users v near h who have i of c_v W_hv
// with W, c and t of similarity.hpp. A history is looked up when it is scored, so users who are
// folded in are like all others. A user with exactly the items of h does not count as near: he
// is the user himself, or adds no item that could be ranked.
#include <algorithm>

#include "algorithms/baseline/item_weights.hpp"
#include "algorithms/baseline/similarity.hpp"
#include "algorithms/core/registry.hpp"

namespace mf::baseline {
namespace {

class UserKnn : public ByHistory {
 public:
  UserKnn(const Params& params, MakeSimilarity make)
      : rule_(knn_rule(params)),
        k_(params.integer("k")),
        of_(params.choice("nearest_of", kOf)),
        make_(make) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    ByHistory::prepare(train, initial, context);
    similarity_ = make_(train, Side::users, rule_, context);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    similarity_->weigh(*context.team);
    if (of_ == Of::columns) find_least(context);
    trained_ = true;
    return train().nnz();
  }

  void score(View<const RowRating> history, View<float> scores) const override {
    std::fill(scores.begin(), scores.end(), 0.0F);
    if (!trained_) return;
    const Products& products = similarity_->products();
    for (const Neighbour& one : near(history)) {
      const float by = one.similarity * similarity_->object_weight(one.object);
      for (const auto i : products.features(one.object)) scores[i] += by;
    }
    for (std::int64_t i = 0; i < scores.size(); ++i) scores[i] *= similarity_->feature_weight(i);
  }

  Work work_per_epoch() const override {
    const auto nnz = static_cast<double>(train().nnz());
    const double products = of_ == Of::columns ? count_products(train(), Side::users) : nnz;
    return {nnz, 8 * nnz, 2 * products};
  }

 private:
  std::vector<Neighbour> near(View<const RowRating> history) const {
    std::vector<std::int32_t> items;
    for (const RowRating& pair : history) items.push_back(pair.other);
    Similarity::Workspace work;
    similarity_->find(items, Of::rows, work);
    std::erase_if(work.found, [&](const Neighbour& one) {
      if (of_ == Of::columns && one.similarity < least_[one.object]) return true;
      return std::ranges::equal(similarity_->products().features(one.object), items);
    });
    if (of_ == Of::rows) keep_nearest(work.found, k_);
    return std::move(work.found);
  }

  // A history has no column, so it is near v if it is as similar as the k-th of v.
  void find_least(Context& context) {
    const auto nearest =
        similarity_->find_nearest(k_, Of::columns, *context.team, context.stop_requested);
    least_.assign(nearest.size(), 0);
    for (std::int64_t v = 0; v < std::ssize(nearest); ++v) {
      if (std::ssize(nearest[v]) < k_) continue;
      least_[v] = std::ranges::min(nearest[v], {}, &Neighbour::similarity).similarity;
    }
  }

  Rule rule_;
  std::int64_t k_;
  Of of_;
  MakeSimilarity make_;
  bool trained_ = false;
  std::unique_ptr<Similarity> similarity_;
  std::vector<float> least_;  // similarity that is kept in a user's column
};

const RegisterFactory kUserKnn("user_knn", user_neighbours(make_similarity<Similarity>));

}  // namespace

AlgorithmFactory user_neighbours(MakeSimilarity make) {
  return [make](const Params& params) { return std::make_unique<UserKnn>(params, make); };
}

}  // namespace mf::baseline
