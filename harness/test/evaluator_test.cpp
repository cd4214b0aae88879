#include "harness/evaluator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::random_ratings;

Model random_model(const Ratings& r, std::int32_t f, ModelKind kind) {
  Model model = initial_model(r.n_users(), r.n_items(), f, kind, 3.0, InitSpec{}, 1);
  Rng rng(5);
  for (auto& b : model.user_bias) b = static_cast<float>(rng.normal());
  for (auto& b : model.item_bias) b = static_cast<float>(rng.normal());
  return model;
}

// The definition, in long double, one rating after another.
Accuracy reference(const Model& m, const Ratings& part) {
  long double square = 0;
  long double absolute = 0;
  const auto f = static_cast<std::size_t>(m.factors);
  for (std::int64_t k = 0; k < part.nnz(); ++k) {
    const auto u = static_cast<std::size_t>(part[k].user);
    const auto i = static_cast<std::size_t>(part[k].item);
    long double guess = m.mean;
    if (m.kind == ModelKind::biased)
      guess += static_cast<long double>(m.user_bias[u]) + m.item_bias[i];
    for (std::size_t d = 0; d < f; ++d) {
      guess += static_cast<long double>(m.p[u * f + d]) * m.q[i * f + d];
    }
    const long double e = part[k].value - guess;
    square += e * e;
    absolute += std::abs(e);
  }
  const auto n = static_cast<long double>(part.nnz());
  return {static_cast<double>(std::sqrt(square / n)), static_cast<double>(absolute / n),
          part.nnz()};
}

TEST(Evaluator, EqualsTheDefinitionForOddRanks) {
  const Ratings r = random_ratings(211, 97, 0.3, 1);
  for (const std::int32_t f : {1, 7, 16, 33, 100}) {
    for (const ModelKind kind : {ModelKind::biased, ModelKind::plain}) {
      const Model m = random_model(r, f, kind);
      ThreadTeam team(2);
      const Accuracy found = Evaluator(r).evaluate(m.view(), r, team);
      const Accuracy expected = reference(m, r);
      EXPECT_NEAR(found.rmse, expected.rmse, 1e-6 * expected.rmse) << f;
      EXPECT_NEAR(found.mae, expected.mae, 1e-6 * expected.mae) << f;
      EXPECT_EQ(found.count, r.nnz());
    }
  }
}

TEST(Evaluator, IsTheSameToTheBitForAnyNumberOfThreads) {
  const Ratings r = random_ratings(500, 300, 0.4, 2);
  const Model m = random_model(r, 9, ModelKind::biased);
  const Evaluator evaluator(r);
  ThreadTeam one(1);
  ThreadTeam three(3);
  EXPECT_EQ(evaluator.evaluate(m.view(), r, one).rmse, evaluator.evaluate(m.view(), r, three).rmse);
}

// Users 0, 1, items 0, 1; trained on (0, 0) alone, so user 1 and item 1 are cold.
TEST(Evaluator, ColdPairsArePredictedByWhatIsKnown) {
  Ratings::Arrays a;
  a.users = {0};
  a.items = {0};
  a.values = {4};
  a.user_offsets = {0, 1, 1};
  a.user_ids = {1, 2};
  a.item_ids = {1, 2};
  const Ratings train(std::move(a));
  Model m = initial_model(2, 2, 2, ModelKind::biased, 3.0, InitSpec{}, 1);
  m.p = {1, 2, 9, 9};
  m.q = {3, 4, 9, 9};
  m.user_bias = {0.5F, 9};
  m.item_bias = {0.25F, 9};
  const Evaluator evaluator(train);
  EXPECT_FLOAT_EQ(evaluator.predict(m.view(), 0, 0), 3 + 0.5F + 0.25F + 11);
  EXPECT_FLOAT_EQ(evaluator.predict(m.view(), 0, 1), 3.5F);
  EXPECT_FLOAT_EQ(evaluator.predict(m.view(), 1, 0), 3.25F);
  EXPECT_FLOAT_EQ(evaluator.predict(m.view(), 1, 1), 3.0F);
  m.kind = ModelKind::plain;
  EXPECT_FLOAT_EQ(evaluator.predict(m.view(), 0, 0), 11);
  EXPECT_FLOAT_EQ(evaluator.predict(m.view(), 1, 1), 4.0F) << "the mean of the train ratings";
}

TEST(Evaluator, ClipsWhereAsked) {
  const Ratings r = random_ratings(3, 3, 1, 1);
  Model m = initial_model(3, 3, 1, ModelKind::biased, 9.0, InitSpec{}, 1);
  Evaluator evaluator(r);
  evaluator.set_clip(1, 5);
  EXPECT_EQ(evaluator.predict(m.view(), 0, 0), 5);
}

TEST(Evaluator, NoRatingsHaveNoError) {
  const Ratings r = random_ratings(3, 3, 1, 1);
  ThreadTeam team(1);
  const Model m = random_model(r, 2, ModelKind::plain);
  EXPECT_TRUE(std::isnan(Evaluator(r).evaluate(m.view(), Ratings(), team).rmse));
}

}  // namespace
}  // namespace mf
