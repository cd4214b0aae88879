// item_knn, user_knn and rp3beta against their formulas, dense and in double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "algorithms/baseline/test/history_reference.hpp"
#include "testing/trainer.hpp"

namespace mf::test {
namespace {

// The rows of x, weighted: tf-idf and BM25 with k1 = 1.2 and b = .75.
Matrix weighted(const Matrix& x, const std::string& weights) {
  if (weights == "none") return x;
  Matrix found = x;
  const double mean = x.sum() / static_cast<double>(x.rows());
  for (std::int64_t f = 0; f < x.cols(); ++f) {
    const double idf = std::log(static_cast<double>(x.rows()) / (1 + x.col(f).sum()));
    for (std::int64_t j = 0; j < x.rows(); ++j) {
      const double length = 1 - .75 + .75 * x.row(j).sum() / mean;
      found(j, f) *= std::max(idf, 0.0) * (weights == "bm25" ? 2.2 / (1.2 * length + 1) : 1);
    }
  }
  return found;
}

double similarity(const Json& set, double p, double j, double i) {
  const std::string kind = set.value("similarity", "cosine");
  const double alpha = set.value("alpha", .5);
  const double beta = set.value("beta", .5);
  double d = std::sqrt(j) * std::sqrt(i);
  if (kind == "asymmetric") d = std::pow(j, alpha) * std::pow(i, 1 - alpha);
  if (kind == "jaccard") d = j + i - p;
  if (kind == "tversky") d = p + alpha * (j - p) + beta * (i - p);
  if (kind == "dot") d = 1;
  return p / (d + set.value("shrinkage", 10.0));
}

// Between the rows of x, 0 on the diagonal.
Matrix similarities(const Matrix& x, const Json& set) {
  const Matrix gram = x * x.transpose();
  Matrix w = Matrix::Zero(x.rows(), x.rows());
  for (std::int64_t j = 0; j < x.rows(); ++j) {
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      if (i != j && gram(j, i) > 0) w(j, i) = similarity(set, gram(j, i), gram(j, j), gram(i, i));
    }
  }
  return w;
}

// The k largest of each row, of equal ones (as floats) the first; with `ties` all that equal the
// last of them.
Matrix rows_cut(const Matrix& w, std::int64_t k, bool ties = false) {
  Matrix cut = Matrix::Zero(w.rows(), w.cols());
  for (std::int64_t j = 0; j < w.rows(); ++j) {
    std::vector<std::pair<float, std::int64_t>> order;
    for (std::int64_t i = 0; i < w.cols(); ++i) {
      if (w(j, i) > 0) order.emplace_back(-static_cast<float>(w(j, i)), i);
    }
    std::sort(order.begin(), order.end());
    for (std::int64_t n = 0; n < std::ssize(order); ++n) {
      if (n < k || (ties && order[n].first == order[k - 1].first)) {
        cut(j, order[n].second) = w(j, order[n].second);
      }
    }
  }
  return cut;
}

Matrix rows_divided(Matrix w) {
  for (std::int64_t j = 0; j < w.rows(); ++j) {
    if (w.row(j).sum() > 0) w.row(j) /= w.row(j).sum();
  }
  return w;
}

Matrix finished(const Matrix& w, std::int64_t k, const Json& set) {
  Matrix cut = set.value("nearest_of", "rows") == "rows"
                   ? rows_cut(w, k)
                   : Matrix(rows_cut(w.transpose(), k).transpose());
  const std::string by = set.value("normalize", "none");
  if (by == "rows") return rows_divided(cut);
  if (by == "columns") return rows_divided(cut.transpose()).transpose();
  return cut;
}

TEST(ItemKnn, KeepsTheNearestBySettings) {
  const Ratings train = some_pairs();
  for (const std::string& text : kKnnSettings) {
    const Json set = Json::parse(text);
    Trainer knn("item_knn", set, train, no_start, 2);
    EXPECT_EQ(weights_of(*knn.algorithm), Matrix::Zero(230, 230));
    knn.run(1);
    EXPECT_EQ(knn.updates, train.nnz());
    const Matrix items = weighted(dense(train).transpose(), set.value("feature_weights", "none"));
    const Matrix expected = finished(similarities(items, set), set["k"], set);
    EXPECT_LT(distance(weights_of(*knn.algorithm), expected), 1e-6 * expected.maxCoeff()) << text;
  }
}

TEST(ItemKnn, OfEqualOnesTheFirstIsKept) {
  // Item 0 is as near to 1 as to 2 and 3.
  const Ratings train = ratings_of(1, 4, {{0, 0, 1}, {0, 1, 1}, {0, 2, 1}, {0, 3, 1}});
  for (const char* of : {"rows", "columns"}) {
    Trainer knn("item_knn", {{"k", 2}, {"shrinkage", 1}, {"nearest_of", of}}, train, no_start);
    knn.run(1);
    Matrix expected(4, 4);
    expected << 0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0;
    if (of == std::string("columns")) expected.transposeInPlace();
    EXPECT_EQ(weights_of(*knn.algorithm), expected / 2);
  }
}

// Element by element from the probabilities of the two steps.
Matrix reference_walk(const Matrix& x, double alpha, double beta) {
  Matrix w = Matrix::Zero(x.cols(), x.cols());
  for (std::int64_t j = 0; j < x.cols(); ++j) {
    for (std::int64_t i = 0; i < x.cols(); ++i) {
      for (std::int64_t u = 0; u < x.rows(); ++u) {
        if (i == j || x(u, j) * x(u, i) == 0) continue;
        const double to_user = std::pow(1 / x.col(j).sum(), alpha);
        const double to_item = std::pow(1 / x.row(u).sum(), alpha);
        w(j, i) += to_user * to_item / std::pow(x.col(i).sum(), beta);
      }
    }
  }
  return w;
}

TEST(Rp3beta, IsTheWalkOfThePaper) {
  const Ratings train = some_pairs();
  for (const std::string& text : kWalkSettings) {
    const Json set = Json::parse(text);
    Trainer walk("rp3beta", set, train, no_start, 2);
    walk.run(1);
    const Matrix all = reference_walk(dense(train), set["alpha"], set["beta"]);
    const Matrix expected = finished(all, set["neighbors"], set);
    EXPECT_LT(distance(weights_of(*walk.algorithm), expected), 1e-6 * expected.maxCoeff()) << text;
  }
}

TEST(UserKnn, SumsTheRowsOfTheNearestUsers) {
  const Ratings train = some_pairs();
  const Matrix x = dense(train);
  for (const std::string& text : kKnnSettings) {
    Json set = Json::parse(text);
    set.erase("normalize");
    const std::int64_t k = set["k"];
    Trainer knn("user_knn", set, train, no_start, 2);
    knn.run(1);
    const Matrix users = weighted(x, set.value("feature_weights", "none"));
    const Matrix all = similarities(users, set);
    const Matrix near = set.value("nearest_of", "rows") == "rows"
                            ? rows_cut(all, k)
                            : Matrix(rows_cut(all.transpose(), k, true).transpose());
    const Matrix expected = near * users;
    double worst = 0;
    for (std::int32_t u = 0; u < train.n_users(); ++u) {
      std::vector<RowRating> history;
      for (std::int32_t i = 0; i < train.n_items(); ++i) {
        if (x(u, i) > 0) history.push_back({i, 1});
      }
      AlignedVector<float> found(train.n_items());
      knn.algorithm->factors().scores->score(View<const RowRating>(history), found);
      for (std::int32_t i = 0; i < train.n_items(); ++i) {
        worst = std::max(worst, std::abs(static_cast<double>(found[i]) - expected(u, i)));
      }
    }
    EXPECT_LT(worst, 2e-6 * expected.maxCoeff()) << text;
  }
}

TEST(UserKnn, AHistoryThatWasNotTrainedOnIsLookedUp) {
  // Of users 0 and 1, item 0 in common: 1 / (sqrt(2) sqrt(2)) with each; user 2 shares nothing.
  const Ratings train =
      ratings_of(3, 5, {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {2, 3, 1}, {2, 4, 1}});
  Trainer knn("user_knn", {{"k", 5}, {"shrinkage", 0}}, train, no_start);
  const std::vector<RowRating> history = {{0, 1}, {4, 1}};
  AlignedVector<float> found(5, 7.0F);
  knn.algorithm->factors().scores->score(View<const RowRating>(history), found);
  EXPECT_EQ(found, AlignedVector<float>(5, 0.0F)) << "before the first epoch";
  knn.run(1);
  knn.algorithm->factors().scores->score(View<const RowRating>(history), found);
  const std::vector<float> expected = {1, .5, .5, .5, .5};
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

TEST(Knn, SettingsThatDoNotFitAreRefused) {
  const auto why = [](const Json& changes) {
    const AlgorithmInfo& info = find_algorithm("user_knn");
    return info.supports(default_params(info.params, changes), {}).value_or("");
  };
  EXPECT_EQ(why({{"similarity", "asymmetric"}, {"alpha", 1}}), "");
  EXPECT_EQ(why({{"similarity", "asymmetric"}, {"alpha", 1.5}}),
            "\"alpha\" is 1.5: for asymmetric, which has 1 - alpha, it is at most 1");
  EXPECT_EQ(why({{"similarity", "jaccard"}, {"feature_weights", "bm25"}}),
            "\"feature_weights\" is \"bm25\": jaccard counts features, so it must be \"none\"; "
            "cosine, asymmetric and dot take weights");
}

}  // namespace
}  // namespace mf::test
