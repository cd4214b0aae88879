// Pairs, settings and references, dense and in double, for neighbours, ease and ease_cpu.
#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/core/history_scores.hpp"
#include "algorithms/core/prepare.hpp"
#include "base/aligned.hpp"
#include "base/rng.hpp"
#include "testing/triples.hpp"

namespace mf::test {

using Matrix = Eigen::MatrixXd;

// Of item_knn, and without `normalize` of user_knn.
inline const std::vector<std::string> kKnnSettings = {
    R"({"k": 1, "shrinkage": 3})",
    R"({"k": 10000, "shrinkage": 0})",
    R"({"k": 7, "similarity": "jaccard", "shrinkage": 0, "nearest_of": "columns"})",
    R"({"k": 7, "similarity": "tversky", "alpha": 0.3, "beta": 1.7, "normalize": "rows"})",
    R"({"k": 7, "similarity": "asymmetric", "alpha": 0.7, "nearest_of": "columns"})",
    R"({"k": 7, "similarity": "asymmetric", "alpha": 0.2, "feature_weights": "tf_idf"})",
    R"({"k": 7, "similarity": "cosine", "feature_weights": "bm25", "normalize": "columns"})",
    R"({"k": 7, "similarity": "dot", "nearest_of": "columns", "normalize": "rows",
        "feature_weights": "bm25"})"};

// Of rp3beta.
inline const std::vector<std::string> kWalkSettings = {
    R"({"alpha": 1, "beta": 0, "neighbors": 10000, "normalize": "rows"})",
    R"({"alpha": 0.6, "beta": 0.3, "neighbors": 9})",
    R"({"alpha": 1.4, "beta": 0.7, "neighbors": 9, "normalize": "rows",
          "nearest_of": "columns"})",
    R"({"alpha": 0, "beta": 0.7, "neighbors": 9, "normalize": "columns"})"};

// User 0 and item 1 have no pair, some pairs the value 0; more items than a block of ease_cpu.
inline Ratings some_pairs() {
  Rng rng(9);
  std::vector<Rating> list;
  for (std::int32_t u = 1; u < 90; ++u) {
    for (std::int32_t i = 0; i < 230; ++i) {
      if (i == 1 || rng.uniform() > .02 + 1.0 / (2 + i)) continue;
      list.push_back({u, i, static_cast<float>(rng.below(4))});
    }
  }
  return ratings_of(90, 230, list);
}

inline Matrix dense(const Ratings& train) {
  Matrix x = Matrix::Zero(train.n_users(), train.n_items());
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    const Rating r = train[k];
    x(r.user, r.item) = r.value > 0 ? 1 : 0;
  }
  return x;
}

inline Model no_start(const Ratings& train, const Params& params) {
  return start_of(params, train, RatingLevel(1), InitSpec{});
}

// Row j of W: the scores of the history {j}.
inline Matrix weights_of(Algorithm& algorithm) {
  const FactorView view = algorithm.factors();
  Matrix w(view.n_items, view.n_items);
  for (std::int32_t j = 0; j < view.n_items; ++j) {
    AlignedVector<float> row(view.n_items);
    const std::vector<RowRating> history = {{j, 1}};
    view.scores->score(View<const RowRating>(history), row);
    for (std::int32_t i = 0; i < view.n_items; ++i) w(j, i) = static_cast<double>(row[i]);
  }
  return w;
}

inline Matrix reference_ease(const Matrix& x, double reg, double dropout = 0) {
  Matrix a = x.transpose() * x;
  for (std::int64_t i = 0; i < a.rows(); ++i) a(i, i) = a(i, i) / (1 - dropout) + reg;
  const Matrix p = a.inverse();
  Matrix b = -(p * p.diagonal().cwiseInverse().asDiagonal());
  b.diagonal().setZero();
  return b;
}

inline double distance(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff(); }

}  // namespace mf::test
