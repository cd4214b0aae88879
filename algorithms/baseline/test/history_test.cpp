// ease_cpu against its definition, dense and in double, and all that score a history.
#include <gtest/gtest.h>

#include "algorithms/baseline/test/history_reference.hpp"
#include "testing/trainer.hpp"

namespace mf::test {
namespace {

TEST(EaseCpu, IsTheClosedFormOfThePaper) {
  const Ratings train = some_pairs();
  Trainer ease("ease_cpu", {{"reg", 20}}, train, no_start, 2);
  EXPECT_EQ(weights_of(*ease.algorithm), Matrix::Zero(230, 230));
  ease.run(1);
  EXPECT_EQ(ease.updates, train.nnz());
  EXPECT_LT(distance(weights_of(*ease.algorithm), reference_ease(dense(train), 20)), 1e-5);
  Trainer dropped("ease_cpu", {{"reg", 20}, {"dropout", 0.4}}, train, no_start, 2);
  dropped.run(1);
  EXPECT_LT(distance(weights_of(*dropped.algorithm), reference_ease(dense(train), 20, 0.4)), 1e-5);
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

class ByThreads : public ByHistory {};

TEST_P(ByThreads, NeitherThreadsNorASecondEpochChangeTheResult) {
  const Ratings train = some_pairs();
  Trainer one(GetParam(), Json::object(), train, no_start, 1);
  Trainer three(GetParam(), Json::object(), train, no_start, 3);
  one.run(1);
  three.run(2);
  EXPECT_EQ(weights_of(*one.algorithm), weights_of(*three.algorithm));
}

INSTANTIATE_TEST_SUITE_P(Baseline, ByHistory, testing::Values("item_knn", "rp3beta", "ease_cpu"));
INSTANTIATE_TEST_SUITE_P(Baseline, ByThreads,
                         testing::Values("item_knn", "rp3beta", "user_knn", "ease_cpu"));

}  // namespace
}  // namespace mf::test
