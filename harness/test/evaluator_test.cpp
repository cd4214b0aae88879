#include "harness/evaluate/evaluator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/device/device.hpp"
#include "harness/device/download_model.hpp"
#include "harness/evaluate/user_groups.hpp"
#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::random_ratings;
using testing::run_one;
using testing::spec_from;

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
  const std::int64_t f = m.factors;
  for (std::int64_t k = 0; k < part.nnz(); ++k) {
    const std::int64_t u = part[k].user;
    const std::int64_t i = part[k].item;
    long double guess = m.mean;
    if (m.kind == ModelKind::biased)
      guess += static_cast<long double>(m.user_bias[u]) + m.item_bias[i];
    for (std::int64_t d = 0; d < f; ++d) {
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

// Users 0, 1, items 0, 1; trained only on (0, 0), so user 1 and item 1 are cold: nothing is taken
// from them.
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
  const float nan = std::numeric_limits<float>::quiet_NaN();
  m.p = {1, 2, nan, nan};
  m.q = {3, 4, nan, nan};
  m.user_bias = {0.5F, nan};
  m.item_bias = {0.25F, nan};
  const Evaluator evaluator(train);
  EXPECT_FLOAT_EQ(evaluator.predict(m.view(), 0, 0), 3 + 0.5F + 0.25F + 11);
  EXPECT_FLOAT_EQ(evaluator.predict(m.view(), 0, 1), 3.5F);
  EXPECT_FLOAT_EQ(evaluator.predict(m.view(), 1, 0), 3.25F);
  EXPECT_FLOAT_EQ(evaluator.predict(m.view(), 1, 1), 3.0F);
  m.kind = ModelKind::plain;
  EXPECT_FLOAT_EQ(evaluator.predict(m.view(), 0, 0), 11);
  for (const auto& [user, item] : {std::pair{0, 1}, {1, 0}, {1, 1}})
    EXPECT_FLOAT_EQ(evaluator.predict(m.view(), user, item), 4) << "the mean of the train ratings";
}

TEST(Evaluator, ItemsWithoutUsersKeepTheKindOfTheirModel) {
  const Ratings r = random_ratings(20, 30, 0.3, 4);
  for (const ModelKind kind : {ModelKind::plain, ModelKind::biased}) {
    const Model whole = random_model(r, 5, kind);
    FactorView view = whole.view();
    view.n_users = 0;
    const Model items = copy_model(view);
    EXPECT_EQ(Predictor(r).rule(items.view()).biased, kind == ModelKind::biased);
  }
}

TEST(Evaluator, TheMeanIsThatOfTheTrainingPart) {
  const Ratings train = random_ratings(300, 200, 0.3, 1);
  const Ratings test = random_ratings(250, 220, 0.4, 2);
  long double mean = 0;
  for (std::int64_t k = 0; k < train.nnz(); ++k) mean += train[k].value;
  mean /= static_cast<long double>(train.nnz());
  long double square = 0;
  long double absolute = 0;
  for (std::int64_t k = 0; k < test.nnz(); ++k) {
    square += (test[k].value - mean) * (test[k].value - mean);
    absolute += std::abs(test[k].value - mean);
  }
  const auto n = static_cast<long double>(test.nnz());
  ThreadTeam team(3);
  const Accuracy found = Evaluator(train).evaluate_mean(test, team);
  EXPECT_NEAR(found.rmse, static_cast<double>(std::sqrt(square / n)), 1e-12);
  EXPECT_NEAR(found.mae, static_cast<double>(absolute / n), 1e-12);
  EXPECT_EQ(found.count, test.nnz());
}

TEST(Evaluator, NoRatingsHaveNoError) {
  const Ratings r = random_ratings(3, 3, 1, 1);
  ThreadTeam team(1);
  const Model m = random_model(r, 2, ModelKind::plain);
  EXPECT_TRUE(std::isnan(Evaluator(r).evaluate(m.view(), Ratings(), team).rmse));
}

TEST(PredictRating, ClippingKeepsWhatIsNoNumber) {
  PredictionRule rule;
  rule.clip_min = 1;
  rule.clip_max = 5;
  const RatingSides known{true, true, 0, 0};
  EXPECT_EQ(predict_rating(rule, known, -2), 1);
  EXPECT_EQ(predict_rating(rule, known, 2), 2);
  EXPECT_EQ(predict_rating(rule, known, 7), 5);
  EXPECT_TRUE(std::isnan(predict_rating(rule, known, std::numeric_limits<float>::quiet_NaN())));
  rule.clip_max = rule.clip_min;
  EXPECT_EQ(predict_rating(rule, known, 7), 7);
}

Split split_of(std::int32_t users, std::int32_t items) {
  Split split;
  split.train = random_ratings(users, items, 0.5, 3);
  split.test = random_ratings(users, items, 0.05, 4);
  return split;
}

double square_sum(const Accuracy& a) {
  return a.count == 0 ? 0 : a.rmse * a.rmse * static_cast<double>(a.count);
}

TEST(UserGroups, ErrorsAddUpToTheWhole) {
  const Split split = split_of(203, 150);
  const Model m = random_model(split.train, 5, ModelKind::biased);
  const Evaluator evaluator(split.train);
  ThreadTeam team(2);
  const Accuracy test = evaluator.evaluate(m.view(), split.test, team);
  const Accuracy train = evaluator.evaluate(m.view(), split.train, team);
  for (const std::int64_t groups : {1, 7, 10, 1000}) {
    double test_sum = 0;
    double train_sum = 0;
    std::int64_t test_count = 0;
    std::int64_t train_count = 0;
    std::int32_t next = 0;
    const auto found = evaluate_user_groups(evaluator, m.view(), split, groups, team);
    ASSERT_EQ(std::ssize(found), std::min<std::int64_t>(groups, 203));
    for (const UserGroup& group : found) {
      EXPECT_EQ(group.first_user, next);
      const std::int64_t users = group.last_user - group.first_user + 1;
      EXPECT_NEAR(static_cast<double>(users), 203.0 / static_cast<double>(found.size()), 1);
      next = group.last_user + 1;
      test_sum += square_sum(group.test);
      train_sum += square_sum(group.train);
      test_count += group.test.count;
      train_count += group.train.count;
    }
    EXPECT_EQ(next, 203);
    EXPECT_EQ(test_count, split.test.nnz());
    EXPECT_EQ(train_count, split.train.nnz());
    EXPECT_NEAR(test_sum, square_sum(test), 1e-9 * test_sum);
    EXPECT_NEAR(train_sum, square_sum(train), 1e-9 * train_sum);
  }
}

TEST(UserGroups, AGroupHasTheErrorOfItsOwnUsersAlone) {
  const Split split = split_of(40, 30);
  Model m = initial_model(40, 30, 2, ModelKind::biased, 3.0, InitSpec{}, 1);
  std::fill(m.p.begin(), m.p.end(), 0.0F);
  for (std::size_t u = 30; u < 40; ++u) m.user_bias[u] = 1000;
  const Evaluator evaluator(split.train);
  ThreadTeam team(1);
  const auto found = evaluate_user_groups(evaluator, m.view(), split, 4, team);
  for (std::size_t g = 0; g < 3; ++g) EXPECT_LT(found[g].train.rmse, 3);
  EXPECT_GT(found[3].train.rmse, 900);
}

TEST(UserGroups, AGroupWithoutRatingsHasNull) {
  Split split = split_of(4, 30);
  split.test = Ratings();
  const Model m = random_model(split.train, 3, ModelKind::plain);
  ThreadTeam team(1);
  const Json json = to_json(evaluate_user_groups(Evaluator(split.train), m.view(), split, 2, team));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_TRUE(json[1]["test_rmse"].is_null());
  EXPECT_EQ(json[1]["test_count"], 0);
  EXPECT_EQ(json[1]["first_user"], 2);
  EXPECT_EQ(json[1]["last_user"], 3);
  EXPECT_GT(json[1]["train_rmse"].get<double>(), 0);
}

TEST(UserGroups, StandInTheFooterWhereAsked) {
  const auto footer_of = [](const std::string& evaluate) {
    const Spec spec =
        spec_from(R"({"datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 2},
                       "algorithms": [{"name": "ruler", "sleep_ms": 0}], "evaluate": )" +
                  evaluate + "}");
    return run_one(spec).footer;
  };
  EXPECT_FALSE(footer_of("{}").contains("user_groups"));
  const Json footer = footer_of(R"({"user_groups": 10})");
  ASSERT_EQ(footer["user_groups"].size(), 10u);
  double square = 0;
  double count = 0;
  for (const Json& group : footer["user_groups"]) {
    const double n = group["test_count"].get<double>();
    square += n * std::pow(group["test_rmse"].get<double>(), 2);
    count += n;
  }
  const double rmse = footer["final_test_rmse"].get<double>();
  EXPECT_NEAR(std::sqrt(square / count), rmse, 1e-9 * rmse);
}

TEST(DeviceFactors, NeedABuildWithCuda) {
  if (built_with_cuda()) GTEST_SKIP() << "this build has CUDA; evaluator_gputest.cu covers it";
  const Ratings r = random_ratings(3, 3, 1, 1);
  const Model m = random_model(r, 2, ModelKind::plain);
  FactorView view = m.view();
  view.location = Location::device;
  ThreadTeam team(1);
  Evaluator evaluator(r);
  evaluator.set_stream(nullptr);
  EXPECT_HAS(message_of([&] { evaluator.evaluate(view, r, team); }), "no CUDA");
  EXPECT_HAS(message_of([&] { download_model(view, nullptr); }), "no CUDA");
}

}  // namespace
}  // namespace mf
