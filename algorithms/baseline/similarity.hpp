// How similar are objects that have features in common (products.hpp)? And the nearest of each. One
// form holds for all similarities here:
//
//   W_ji = p_ji / (D_ji + shrinkage),    p_ji = c_j c_i sum of t_f^2 over the common features f
//   D_ji = s_j^a s_i^b                              Form::product
//   D_ji = (1 - a - b) p_ji + a s_j + b s_i         Form::sum
//
// s_j is p_jj, or for a random walk the number of features of j. t_f and c_j are the weights of a
// feature and of an object.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "algorithms/baseline/products.hpp"
#include "algorithms/core/algorithm.hpp"
#include "base/host_device.hpp"
#include "base/json/names.hpp"
#include "base/threads.hpp"

namespace mf::baseline {

enum class Kind { cosine, asymmetric, jaccard, tversky, dot };
inline constexpr Names kKinds{std::to_array<Named<Kind>>({{"cosine", Kind::cosine},
                                                          {"asymmetric", Kind::asymmetric},
                                                          {"jaccard", Kind::jaccard},
                                                          {"tversky", Kind::tversky},
                                                          {"dot", Kind::dot}})};

// With n objects, n_f of them with feature f, and l_j the features of j over their mean:
//   tf_idf: t_f = max(0, log(n / (1 + n_f))), c_j = 1
//   bm25:   the same t_f, c_j = 2.2 / (1.2 (.25 + .75 l_j) + 1)
//   walk:   t_f^2 = n_f^-a, c_j = 1
enum class FeatureWeights { none, tf_idf, bm25, walk };
inline constexpr Names kFeatureWeights{
    std::to_array<Named<FeatureWeights>>({{"none", FeatureWeights::none},
                                          {"tf_idf", FeatureWeights::tf_idf},
                                          {"bm25", FeatureWeights::bm25}})};

// The nearest that are kept: of a row those to which j is similar, of a column those similar to i.
enum class Of { rows, columns };
inline constexpr Names kOf{
    std::to_array<Named<Of>>({{"rows", Of::rows}, {"columns", Of::columns}})};

struct Rule {
  enum class Form { product, sum };
  Form form = Form::product;
  double a = .5, b = .5, shrinkage = 0;
  FeatureWeights weights = FeatureWeights::none;

  // W by p and what two objects have in D.
  MF_HD float similarity(double p, double one, double other) const {
    const double d = form == Form::product ? one * other : (1 - a - b) * p + one + other;
    return static_cast<float>(p / (d + shrinkage));
  }
};
Rule knn_rule(const Params& params);
Rule walk_rule(const Params& params);  // of rp3beta

struct Neighbour {
  std::int32_t object;
  float similarity;
};

// The k most similar, the first of equal ones; in no order.
void keep_nearest(std::vector<Neighbour>& found, std::int64_t k);

// Rows of a sparse matrix.
struct SparseRows {
  AlignedVector<std::int64_t> offsets = {0};
  AlignedVector<std::int32_t> columns;
  AlignedVector<float> values;
};

class Similarity {
 public:
  // Buffers of one thread.
  struct Workspace {
    std::vector<double> sums;  // of each object, 0 between calls
    std::vector<std::int32_t> objects;
    std::vector<Neighbour> found;
  };

  Similarity(const Ratings& train, Side objects, const Rule& rule, const Context& context)
      : rule_(rule), products_(train, objects, context.team->size()) {}
  virtual ~Similarity() = default;

  // The weights and sizes; before all that follows.
  void weigh(ThreadTeam& team);

  // All objects with a feature in common with these features, as if they were a row j of W, or
  // column i, in work.found.
  void find(View<const std::int32_t> features, Of of, Workspace& work) const;

  // Of each object, the nearest others. If it was stopped early, some objects have none.
  virtual std::vector<std::vector<Neighbour>> find_nearest(std::int64_t k, Of of, ThreadTeam& team,
                                                           const std::function<bool()>& stop) const;

  const Products& products() const { return products_; }
  // c and t.
  float object_weight(std::int64_t object) const { return object_weights_[object]; }
  float feature_weight(std::int64_t feature) const {
    return static_cast<float>(std::sqrt(squares_[feature]));
  }

 protected:
  // The part of D that belongs to each object, if it is row j or column i.
  View<const double> parts(Of of) const { return of == Of::rows ? rows_ : columns_; }

  Rule rule_;
  std::vector<double> squares_;        // t^2
  std::vector<float> object_weights_;  // c

 private:
  float weight_of(std::int64_t features) const;  // c of an object with so many
  double size_of(View<const std::int32_t> features) const;
  double part(double size, double power_or_share) const;

  Products products_;
  double mean_features_ = 0;
  std::vector<double> rows_, columns_;
};

// The algorithms, by what finds the nearest.
using MakeSimilarity = std::unique_ptr<Similarity> (*)(const Ratings&, Side, const Rule&,
                                                       const Context&);
template <class Finder>
std::unique_ptr<Similarity> make_similarity(const Ratings& train, Side objects, const Rule& rule,
                                            const Context& context) {
  return std::make_unique<Finder>(train, objects, rule, context);
}
AlgorithmFactory item_neighbours(MakeSimilarity make, Rule (*rule)(const Params&), const char* k);
AlgorithmFactory user_neighbours(MakeSimilarity make);

// W by rows j from its rows or columns, each row or column divided by its sum if asked for.
SparseRows assemble(std::vector<std::vector<Neighbour>> nearest, Of of,
                    std::optional<Of> normalized, ThreadTeam& team);

}  // namespace mf::baseline
