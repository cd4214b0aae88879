// item_knn and ease_cpu against their definitions, dense and in double.
#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/baseline/test/history_reference.hpp"
#include "testing/trainer.hpp"

namespace mf::test {
namespace {

Matrix reference_knn(const Matrix& x, std::int64_t k, double shrinkage) {
  const Matrix gram = x.transpose() * x;
  Matrix w = Matrix::Zero(x.cols(), x.cols());
  for (std::int64_t j = 0; j < x.cols(); ++j) {
    std::vector<std::pair<double, std::int64_t>> order;  // the nearest first, then by index
    for (std::int64_t i = 0; i < x.cols(); ++i) {
      if (i == j || gram(j, i) == 0) continue;
      const double norms = std::sqrt(gram(j, j)) * std::sqrt(gram(i, i));
      order.emplace_back(-gram(j, i) / (norms + shrinkage), i);
    }
    std::sort(order.begin(), order.end());
    for (std::size_t n = 0; n < std::min<std::size_t>(k, order.size()); ++n) {
      w(j, order[n].second) = -order[n].first;
    }
  }
  return w;
}

TEST(ItemKnn, KeepsTheNearestOfEachItem) {
  const Ratings train = some_pairs();
  for (const int k : {1, 7, 10'000}) {
    Trainer knn("item_knn", {{"k", k}, {"shrinkage", 3}}, train, no_start, 2);
    EXPECT_EQ(weights_of(*knn.algorithm), Matrix::Zero(230, 230));
    knn.run(1);
    EXPECT_EQ(knn.updates, train.nnz());
    const Matrix expected = reference_knn(dense(train), k, 3);
    EXPECT_LT(distance(weights_of(*knn.algorithm), expected), 1e-6) << k;
  }
}

TEST(ItemKnn, OfEqualOnesTheFirstIsKept) {
  // Item 0 is as near to 1 as to 2 and 3.
  const Ratings train = ratings_of(1, 4, {{0, 0, 1}, {0, 1, 1}, {0, 2, 1}, {0, 3, 1}});
  Trainer knn("item_knn", {{"k", 2}, {"shrinkage", 1}}, train, no_start);
  knn.run(1);
  Matrix expected = Matrix::Zero(4, 4);
  expected << 0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0;
  EXPECT_EQ(weights_of(*knn.algorithm), expected / 2);
}

TEST(EaseCpu, IsTheClosedFormOfThePaper) {
  const Ratings train = some_pairs();
  Trainer ease("ease_cpu", {{"reg", 20}}, train, no_start, 2);
  EXPECT_EQ(weights_of(*ease.algorithm), Matrix::Zero(230, 230));
  ease.run(1);
  EXPECT_EQ(ease.updates, train.nnz());
  EXPECT_LT(distance(weights_of(*ease.algorithm), reference_ease(dense(train), 20)), 1e-5);
}

class ByHistory : public testing::TestWithParam<const char*> {};

TEST_P(ByHistory, AHistoryIsTheSumOfItsItems) {
  const Ratings train = some_pairs();
  const std::vector<RowRating> history = {{0, 3}, {4, 1}, {200, 2}};
  Trainer trainer(GetParam(), Json::object(), train, no_start);
  trainer.run(1);
  const Matrix w = weights_of(*trainer.algorithm);
  AlignedVector<float> found(train.n_items());
  trainer.algorithm->factors().scores->score(View<const RowRating>(history), found);
  for (std::int32_t i = 0; i < train.n_items(); ++i) {
    double sum = 0;
    for (const RowRating& one : history) sum += w(one.other, i);
    EXPECT_NEAR(found[i], sum, 1e-5) << i;
  }
}

TEST_P(ByHistory, NeitherThreadsNorASecondEpochChangeTheResult) {
  const Ratings train = some_pairs();
  Trainer one(GetParam(), Json::object(), train, no_start, 1);
  Trainer three(GetParam(), Json::object(), train, no_start, 3);
  one.run(1);
  three.run(2);
  EXPECT_EQ(weights_of(*one.algorithm), weights_of(*three.algorithm));
}

INSTANTIATE_TEST_SUITE_P(Baseline, ByHistory, testing::Values("item_knn", "ease_cpu"));

}  // namespace
}  // namespace mf::test
