// Objective, ranking and fold-in against their definitions.
#include "harness/evaluate/quality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <thread>

#include "algorithms/core/registry.hpp"
#include "base/wait.hpp"
#include "harness/test/quality_reference.hpp"
#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::one_thread;
using testing::random_ratings;

constexpr std::int32_t kUsers = 61, kItems = 203, kFactors = 7;

// Small whole numbers: their products and sums are exact, and equal scores are common.
Model whole_model(std::int32_t m, std::int32_t n, std::int32_t f, std::uint64_t seed, int range) {
  Model model = initial_model(m, n, f, ModelKind::plain, 0, InitSpec{}, 1);
  Rng rng(seed);
  const auto draw = [&] {
    return static_cast<float>(static_cast<int>(rng.below(2 * range + 1)) - range);
  };
  for (auto& x : model.p) x = draw();
  for (auto& x : model.q) x = draw();
  return model;
}

// Pairs of `all` for which keep(user, position) holds.
template <class Keep>
Ratings part_of(const Ratings& all, Keep&& keep) {
  std::vector<std::uint8_t> label(all.nnz());
  for (std::int64_t i = 0; i < all.nnz(); ++i) label[i] = keep(all[i].user, i) ? 1 : 0;
  return select(all, label, 1, 1);
}

Split random_split(std::int32_t m, std::int32_t n, double density) {
  const Ratings all = random_ratings(m, n, density, 11);
  Split split;
  // Every 5th user has nothing held out, every 7th nothing but that.
  const auto held_out = [](std::int32_t u, std::int64_t i) {
    return u % 5 != 0 && (u % 7 == 0 || i % 3 == 0);
  };
  split.train = part_of(all, [&](auto u, auto i) { return !held_out(u, i); });
  split.test = part_of(all, held_out);
  return split;
}

std::vector<float> scores_of(const Model& model, std::int32_t user) {
  std::vector<float> scores;
  for (std::int32_t i = 0; i < model.n_items; ++i) {
    scores.push_back(static_cast<float>(testing::dot_of(model.view(), user, i)));
  }
  return scores;
}

std::vector<std::int32_t> list_of(const Model& model, const RankedUsers& users, std::int64_t r) {
  return testing::ranked_list(scores_of(model, users.users[r]), users.seen[r], users.tie_key(r));
}

std::int64_t warm_count(const RankedUsers& users) {
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < users.count(); ++r) count += users.is_cold(r) ? 0 : 1;
  return count;
}

using Reference = double (*)(const std::vector<std::int32_t>&, View<const std::int32_t>, int);

// Each with the plain sum that its definition is, over the whole sorted list.
const std::vector<std::pair<std::string, Reference>> kReferences = {
    {"recall", testing::reference_recall},
    {"recall_of_all", testing::reference_recall_of_all},
    {"ndcg", testing::reference_ndcg},
    {"map", testing::reference_map},
    {"mrr", testing::reference_mrr},
    {"hit_rate", testing::reference_hit_rate},
    {"precision", testing::reference_precision}};

RankingSpec ranking_at(const std::vector<int>& ranks) {
  RankingSpec spec;
  for (const auto& [name, reference] : kReferences) {
    for (const int k : ranks) spec.metrics.push_back(Metric::named(name, k));
  }
  return spec;
}

void expect_ranking(const MetricValues& found, const Model& model, const RankedUsers& users,
                    const std::vector<int>& ranks) {
  for (const auto& [name, reference] : kReferences) {
    for (const int k : ranks) {
      double sum = 0;
      for (std::int64_t r = 0; r < users.count(); ++r) {
        if (users.is_cold(r)) continue;
        sum += reference(list_of(model, users, r), users.held_out[r], k);
      }
      const double value = *found[Metric::named(name, k)];
      if (warm_count(users) == 0) {
        EXPECT_TRUE(std::isnan(value)) << name << " " << k;
      } else {
        EXPECT_NEAR(value, sum / static_cast<double>(warm_count(users)), 1e-12) << name << " " << k;
      }
    }
  }
}

FoldInLoss implicit_loss(double alpha, double reg, double exponent = 0) {
  FoldInLoss loss;
  loss.implicit = ImplicitLoss{alpha, reg, exponent};
  return loss;
}

// More held out than k: all that k ranks can hold counts as the whole, except in recall of all.
TEST(Ranking, IsOneWhereAllThatCanBeFoundIs) {
  Hits hits;
  for (int r = 0; r < kRanks; ++r) hits.set(r);
  for (const MetricRow& row : kMetricRows) {
    if (row.of_user == nullptr) continue;
    for (const int k : {1, 20, kRanks}) {
      const bool of_all = row.of_user == recall_of_all_at;
      EXPECT_DOUBLE_EQ(row.of_user(hits, k, 250), of_all ? k / 250.0 : 1) << row.name << k;
    }
  }
}

TEST(Metrics, AreFoundByTheirKeysWithAnyK) {
  for (const Metric one : usual_metrics()) EXPECT_EQ(find_metric(one.key()), one);
  EXPECT_EQ(find_metric("ndcg@10"), Metric::named("ndcg", 10));
  EXPECT_EQ(find_metric("ndcg_10")->key(), "ndcg_10");
  EXPECT_EQ(find_metric("hit_rate@5")->title(), "Hit rate@5");
  for (const char* none : {"ndcg", "ndcg@", "ndcg@0", "ndcg@101", "ndcg@010", "ndcg@+5", "ndcg-10",
                           "test_rmse@3", "rmse", ""}) {
    EXPECT_FALSE(find_metric(none)) << none;
  }
}

// Sizes around the tiles of users and the panels and blocks of items; more ranks than items; ties.
TEST(Ranking, IsThatOfTheSortedList) {
  const struct {
    std::int32_t m, n, f;
    double density;
    int range;
  } cases[] = {{61, 203, 7, 0.1, 2},   {7, 1, 3, 0.9, 1},      {97, 16, 1, 0.4, 1},
               {200, 90, 5, 0.3, 3},   {3, 1100, 2, 0.05, 1},  {13, 513, 16, 0.05, 200},
               {195, 64, 33, 0.2, 50}, {5, 2000, 4, 0.2, 3000}};
  for (const auto& c : cases) {
    const Split split = random_split(c.m, c.n, c.density);
    const Model model = whole_model(c.m, c.n, c.f, 3, c.range);
    const std::vector<int> ranks = {1, 10, 20, 37, kRanks};
    QualityEvaluator evaluator(split, Predictor(split.train), implicit_loss(1, 0.1),
                               ranking_at(ranks), one_thread());
    const RankedUsers users =
        choose_ranked_users(split.train, nullptr, split.test, {}, true, one_thread());
    ASSERT_GT(users.count(), 0) << c.m;
    ThreadTeam team(2);
    SCOPED_TRACE(c.n);
    expect_ranking(evaluator.evaluate(model.view(), team), model, users, ranks);
  }
}

constexpr std::int32_t kMany = 1733;  // items: more than are held at once

struct ManyTies {
  Split split = random_split(40, kMany, 0.3);
  Model model = whole_model(40, kMany, 3, 5, 1);
  RankedUsers users = choose_ranked_users(split.train, nullptr, split.test, {}, true, one_thread());

  RankedItems by_products() const {
    std::vector<const float*> rows;
    for (const auto u : users.users) rows.push_back(model.p.data() + u * 3);
    return rank_items({rows, model.q.data(), 3, kMany, 3}, users, one_thread());
  }
};

// Most items are too short for most lists; some users, of zeros, need all items.
TEST(Ranking, ListsTheBestOfRowsOfAllLengths) {
  const Split split = random_split(120, kMany, 0.1);
  const RankedUsers users =
      choose_ranked_users(split.train, nullptr, split.test, {}, true, one_thread());
  Model model = whole_model(120, kMany, 5, 7, 20);
  std::vector<const float*> rows;
  for (const auto u : users.users) {
    rows.push_back(model.p.data() + u * 5);
    if (u % 9 == 0) std::fill_n(model.p.begin() + u * 5, 5, 0.0F);
  }
  for (std::int32_t i = 0; i < kMany; ++i) {
    if (i % 6 != 0) std::fill_n(model.q.begin() + i * 5 + 1, 4, 0.0F);
  }
  AlignedVector<std::int32_t> top;
  ThreadTeam team(2);
  EXPECT_TRUE(rank_items({rows, model.q.data(), 5, kMany, 5}, users, team, &top).finite);
  for (std::int64_t r = 0; r < users.count(); ++r) {
    const auto list = list_of(model, users, r);
    for (int k = 0; k < kRanks; ++k) ASSERT_EQ(top[r * kRanks + k], list[k]) << r << " " << k;
  }
}

// Rows whose product may be more than a float holds: the scores themselves decide.
TEST(Ranking, IsFiniteIfItsScoresAre) {
  const ManyTies of;
  AlignedVector<float> q(kMany, 1.0F);
  const float large = 1e20F;
  const std::vector<const float*> rows(of.users.count(), &large);
  for (const auto& [item, finite] : {std::pair{3e18F, true}, {4e18F, false}}) {
    q[kMany - 1] = item;
    EXPECT_EQ(rank_items({rows, q.data(), 1, kMany, 1}, of.users, one_thread()).finite, finite);
  }
}

// The same lists if all scores of a user come at once; one that is not finite is seen, too.
TEST(Ranking, OfScoresIsThatOfProducts) {
  const ManyTies of;
  const RankedItems products = of.by_products();
  bool spoilt = false;
  const auto score = [&](std::int64_t r, View<float> scores) {
    const auto all = scores_of(of.model, of.users.users[r]);
    std::copy(all.begin(), all.end(), scores.begin());
    if (spoilt) scores[0] = std::nanf("");
  };
  ThreadTeam team(3);
  const RankedItems found = rank_scores(score, kMany, of.users, team);
  ASSERT_EQ(found.hits.size(), products.hits.size());
  for (std::size_t r = 0; r < found.hits.size(); ++r) {
    EXPECT_EQ(found.hits[r].words, products.hits[r].words) << r;
  }
  EXPECT_EQ(found.tied, products.tied);
  EXPECT_TRUE(found.finite);
  spoilt = true;
  EXPECT_FALSE(rank_scores(score, kMany, of.users, team).finite);
}

// By the caller's thread; the other has no more users then.
TEST(Ranking, EndsMidwayWhereItsCallerIsToldTo) {
  const ManyTies of;
  std::string said;
  int asked = 0;
  std::atomic<bool> ended = false;
  const WaitScope waits([&](const std::string& what, double) {
    said = what;
    if (++asked < 3) return;
    ended = true;
    fail(ErrorKind::io, "no longer");
  });
  std::atomic<int> scored = 0;
  const auto score = [&, caller = std::this_thread::get_id()](std::int64_t, View<float> scores) {
    std::fill(scores.begin(), scores.end(), 0.0F);
    ++scored;
    while (std::this_thread::get_id() != caller && !ended) std::this_thread::yield();
  };
  ThreadTeam team(2);
  EXPECT_EQ(message_of([&] { rank_scores(score, kMany, of.users, team); }), "no longer");
  EXPECT_LE(scored, 3);
  EXPECT_EQ(said, "the ranking of items for " + std::to_string(of.users.count()) + " users");
  EXPECT_EQ(message_of([&] { of.by_products(); }), "no longer");
}

TEST(Ranking, CountsUsersWithHeldOutItemsAlone) {
  const Split split = random_split(kUsers, kItems, 0.1);
  const RankedUsers users =
      choose_ranked_users(split.train, nullptr, split.test, {}, true, one_thread());
  std::set<std::int32_t> expected;
  for (const auto u : split.test.users()) expected.insert(u);
  EXPECT_EQ(std::set<std::int32_t>(users.users.begin(), users.users.end()), expected);
  EXPECT_EQ(users.eligible, std::ssize(expected));
  EXPECT_LT(std::ssize(expected), kUsers) << "some have none";
}

TEST(Ranking, ASampleIsPartOfALargerOne) {
  const Split split = random_split(kUsers, kItems, 0.1);
  const auto sample = [&](std::int64_t n, std::uint64_t seed) {
    const RankedUsers users =
        choose_ranked_users(split.train, nullptr, split.test, {n, seed, {}}, true, one_thread());
    EXPECT_EQ(
        users.eligible,
        choose_ranked_users(split.train, nullptr, split.test, {}, true, one_thread()).count());
    return std::set<std::int32_t>(users.users.begin(), users.users.end());
  };
  const auto ten = sample(10, 1);
  const auto twenty = sample(20, 1);
  EXPECT_EQ(ten.size(), 10u);
  EXPECT_TRUE(std::includes(twenty.begin(), twenty.end(), ten.begin(), ten.end()));
  EXPECT_NE(ten, sample(10, 2));
  EXPECT_EQ(std::ssize(sample(10'000, 1)),
            choose_ranked_users(split.train, nullptr, split.test, {}, true, one_thread()).count());
}

// A value of 0 was not observed: neither seen nor held out.
TEST(Ranking, ZerosAreNoInteractionsOfImplicitFeedback) {
  Ratings::Arrays a;
  a.users = {0, 0, 0, 1};
  a.items = {0, 1, 2, 0};
  a.values = {0, 1, 1, 0};
  a.user_offsets = {0, 3, 4};
  a.user_ids = {0, 1};
  a.item_ids = {0, 1, 2};
  const Ratings all(std::move(a));
  const Ratings train = part_of(all, [](auto, auto i) { return i < 2; });
  const Ratings test = part_of(all, [](auto, auto i) { return i >= 2; });
  const RankedUsers implicit = choose_ranked_users(train, nullptr, test, {}, true, one_thread());
  ASSERT_EQ(implicit.count(), 1);
  EXPECT_EQ(implicit.seen[0].size(), 1);
  const RankedUsers ratings = choose_ranked_users(train, nullptr, test, {}, false, one_thread());
  EXPECT_EQ(ratings.count(), 2);
  EXPECT_EQ(ratings.seen[0].size(), 2);
}

TEST(Ranking, OfAModelThatIsNotFiniteIsNone) {
  const Split split = random_split(kUsers, kItems, 0.1);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), 3e38F}) {
    Model model = whole_model(kUsers, kItems, kFactors, 3, 3);
    for (std::int32_t k = 0; k < kFactors; ++k) model.q[(kItems - 1) * kFactors + k] = bad;
    QualityEvaluator evaluator(split, Predictor(split.train), implicit_loss(1, 0), RankingSpec{},
                               one_thread());
    ThreadTeam team(2);
    const MetricValues values = evaluator.evaluate(model.view(), team);
    EXPECT_TRUE(std::isnan(*values[kNdcg100]));
    EXPECT_TRUE(std::isnan(*values[Metric::named("recall", 20)]));
  }
}

TEST(Ranking, AndObjectiveAreTheSameForAnyNumberOfThreads) {
  const Split split = random_split(700, 300, 0.1);
  Model model = initial_model(700, 300, 19, ModelKind::plain, 0, InitSpec{}, 1);
  QualityEvaluator evaluator(split, Predictor(split.train), implicit_loss(3, 0.1), RankingSpec{},
                             one_thread());
  ThreadTeam one(1);
  const MetricValues expected = evaluator.evaluate(model.view(), one);
  for (const int threads : {2, 5, 8}) {
    ThreadTeam team(threads);
    const MetricValues found = evaluator.evaluate(model.view(), team);
    for (const auto& [metric, value] : expected) EXPECT_EQ(found[metric], value) << metric.key();
  }
}

// Explicit ratings: ranked by the predictions of the evaluator of errors, cold sides included.
TEST(Ranking, OfExplicitModelsIsByTheirPredictions) {
  for (const ModelKind kind : {ModelKind::biased, ModelKind::plain}) {
    Split split = random_split(60, 150, 0.08);
    // Item 7 has no training rating.
    split.train = part_of(split.train, [&](auto, auto i) { return split.train[i].item != 7; });
    Model model = whole_model(60, 150, 4, 9, 2);
    model.kind = kind;
    if (kind == ModelKind::biased) {
      model.mean = 3;
      Rng rng(4);
      for (int u = 0; u < 60; ++u) model.user_bias.push_back(static_cast<float>(rng.below(4)));
      for (int i = 0; i < 150; ++i) model.item_bias.push_back(static_cast<float>(rng.below(5)));
    }
    QualityEvaluator evaluator(split, Predictor(split.train), FoldInLoss{}, RankingSpec{},
                               one_thread());
    ThreadTeam team(2);
    const MetricValues found = evaluator.evaluate(model.view(), team);
    EXPECT_FALSE(found[kObjective]);

    const Predictor predictor(split.train);
    const RankedUsers users =
        choose_ranked_users(split.train, nullptr, split.test, {}, false, one_thread());
    double ndcg = 0;
    for (std::int64_t r = 0; r < users.count(); ++r) {
      if (users.is_cold(r)) continue;
      std::vector<float> scores;
      for (std::int32_t i = 0; i < 150; ++i) {
        scores.push_back(predictor.predict(model.view(), users.users[r], i));
      }
      ndcg += testing::reference_ndcg(testing::ranked_list(scores, users.seen[r], users.tie_key(r)),
                                      users.held_out[r], 100);
    }
    // The mean of training is not a whole number, but compared only with whole numbers.
    EXPECT_NEAR(*found[kNdcg100], ndcg / static_cast<double>(warm_count(users)), 1e-12);
  }
}

TEST(Objective, IsTheDenseSum) {
  for (const double exponent : {0.0, 0.7}) {
    const double popularity = exponent / 2;
    const Ratings train = random_ratings(kUsers, kItems, 0.1, 3);
    Model model = initial_model(kUsers, kItems, kFactors, ModelKind::plain, 0,
                                InitSpec{InitKind::normal, 0.5, 4}, 1);
    const ImplicitLoss loss{2.5, 0.3, exponent, true, popularity};
    ThreadTeam team(2);
    const double expected = testing::dense_objective(model.view(), train, loss);
    EXPECT_NEAR(ImplicitObjective(train, loss, team).evaluate(model.view(), team), expected,
                1e-11 * expected);
  }
}

// More parts than threads: they are added in the order of the parts, whoever made them.
TEST(Objective, OfAGramInWavesIsTheSameForAnyNumberOfThreads) {
  constexpr std::int32_t f = 3;
  constexpr std::int64_t count = 256 * 32 * 2 + 5;
  std::vector<float> rows(count * f);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::sin(static_cast<float>(i));
  ThreadTeam one(1), three(3), many(40);
  const auto gram = gram_of(rows.data(), count, f, f, one);
  EXPECT_EQ(gram_of(rows.data(), count, f, f, three), gram);
  EXPECT_EQ(gram_of(rows.data(), count, f, f, many), gram);
  for (std::int32_t a = 0; a < f; ++a) {
    for (std::int32_t b = 0; b < f; ++b) {
      double sum = 0;
      for (std::int64_t r = 0; r < count; ++r)
        sum += static_cast<double>(rows[r * f + a]) * rows[r * f + b];
      EXPECT_NEAR(gram[a * f + b], sum, 1e-9 * count);
    }
  }
  EXPECT_TRUE(gram_of(nullptr, 0, f, f, one) == std::vector<double>(9, 0.0));
}

TEST(Objective, OfZerosIsThatOfTheZeroModel) {
  const Ratings train = random_ratings(kUsers, kItems, 0.1, 3);
  const Model model = initial_model(kUsers, kItems, kFactors, ModelKind::plain, 0,
                                    InitSpec{InitKind::normal, 0, 4}, 1);
  const ImplicitLoss loss{2.5, 0.3, 0, true, 0.5};
  ThreadTeam team(2);
  const double expected = testing::dense_objective(model.view(), train, loss);
  EXPECT_NEAR(ImplicitObjective(train, loss, team).of_zeros(team), expected, 1e-11 * expected);
}

// Padded rows, more rows than a part of the Gram, pairs with the value 0.
TEST(Objective, OfPaddedRowsAndUnobservedPairs) {
  const Ratings drawn = random_ratings(300, 9, 0.4, 3);
  Ratings::Arrays a;
  a.users.assign(drawn.users().begin(), drawn.users().end());
  a.items.assign(drawn.items().begin(), drawn.items().end());
  a.values.assign(drawn.values().begin(), drawn.values().end());
  for (std::size_t i = 0; i < a.values.size(); i += 4) a.values[i] = 0;
  a.user_offsets.assign(drawn.user_offsets().begin(), drawn.user_offsets().end());
  a.user_ids.assign(drawn.user_ids().begin(), drawn.user_ids().end());
  a.item_ids.assign(drawn.item_ids().begin(), drawn.item_ids().end());
  const Ratings train(std::move(a));
  Model wide = initial_model(300, 9, 8, ModelKind::plain, 0, InitSpec{InitKind::normal, 1, 4}, 1);
  FactorView view = wide.view();
  view.factors = 5;
  const ImplicitLoss loss{0.5, 2, 0};
  ThreadTeam team(1);
  const double expected = testing::dense_objective(view, train, loss);
  EXPECT_NEAR(ImplicitObjective(train, loss, team).evaluate(view, team), expected,
              1e-11 * expected);
}

// The row of least loss: no other row near it has less, and its gradient is zero.
TEST(FoldIn, ImplicitRowsSolveTheDenseSystem) {
  Model model = initial_model(1, 30, 5, ModelKind::plain, 0, InitSpec{InitKind::normal, 1, 8}, 1);
  const FoldInLoss loss = implicit_loss(2, 0.7, 0.5);
  const std::vector<RowRating> history = {{3, 1}, {4, 0}, {7, 5}, {29, 2}};
  ThreadTeam team(2);
  const FoldIn::Row row = FoldIn(model.view(), loss, team).solve(View<const RowRating>(history));
  const double l = loss.implicit->row_reg(3, 30);
  for (int d = 0; d < 5; ++d) {
    double gradient = l * static_cast<double>(row.factors[d]);
    for (std::int32_t i = 0; i < 30; ++i) {
      double value = 0;
      for (const RowRating& one : history) value = one.other == i ? one.value : value;
      double s = 0;
      for (int k = 0; k < 5; ++k) s += static_cast<double>(row.factors[k]) * model.q[i * 5 + k];
      gradient += (1 + 2 * value) * (s - (value > 0 ? 1 : 0)) * model.q[i * 5 + d];
    }
    EXPECT_NEAR(gradient, 0, 1e-4);
  }
}

TEST(FoldIn, RidgeRowsHaveABiasInABiasedModel) {
  for (const auto& [kind, power] :
       {std::pair{ModelKind::biased, 1.0}, std::pair{ModelKind::plain, 1.0},
        std::pair{ModelKind::plain, 0.5}}) {
    const double shrink = power == 1 ? 0.6 : 0.1 * std::sqrt(6.0);
    Model model = initial_model(1, 20, 4, kind, 3, InitSpec{InitKind::normal, 1, 8}, 1);
    const bool biased = kind == ModelKind::biased;
    for (auto& b : model.item_bias) b = 0.25F;
    FoldInLoss loss;
    loss.reg = 0.1;
    loss.reg_power = power;
    const std::vector<RowRating> history = {{0, 5}, {3, 1}, {7, 4}, {8, 2}, {12, 3}, {13, 5}};
    ThreadTeam team(1);
    const FoldIn::Row row = FoldIn(model.view(), loss, team).solve(View<const RowRating>(history));
    std::vector<double> gradient(5);
    for (int d = 0; d < 4; ++d) gradient[d] = shrink * static_cast<double>(row.factors[d]);
    gradient[4] = shrink * static_cast<double>(row.bias);
    for (const RowRating& one : history) {
      double guess = biased ? 3.25 + static_cast<double>(row.bias) : 0;
      for (int k = 0; k < 4; ++k) {
        guess += static_cast<double>(row.factors[k]) * model.q[one.other * 4 + k];
      }
      for (int d = 0; d < 4; ++d) gradient[d] += (guess - one.value) * model.q[one.other * 4 + d];
      gradient[4] += biased ? guess - one.value : 0;
    }
    for (const double g : gradient) EXPECT_NEAR(g, 0, 1e-4);
  }
}

// Nothing regularized and fewer items than factors: still a row, and one that fits the history.
TEST(FoldIn, WithoutRegularizationFitsShortHistories) {
  Model model = initial_model(1, 20, 6, ModelKind::plain, 3, InitSpec{InitKind::normal, 1, 8}, 1);
  const std::vector<RowRating> history = {{0, 5}, {3, 1}};
  ThreadTeam team(1);
  const FoldIn::Row row = FoldIn(model.view(), {}, team).solve(View<const RowRating>(history));
  for (const RowRating& one : history) {
    double guess = 0;
    for (int k = 0; k < 6; ++k) {
      guess += static_cast<double>(row.factors[k]) * model.q[one.other * 6 + k];
    }
    EXPECT_NEAR(guess, static_cast<double>(one.value), 1e-4);
  }
}

TEST(FoldIn, RefusesNegativeConfidence) {
  Model model = initial_model(1, 5, 2, ModelKind::plain, 0, InitSpec{}, 1);
  ThreadTeam team(1);
  const FoldIn fold(model.view(), implicit_loss(1, 1), team);
  const std::vector<RowRating> history = {{0, -1}};
  EXPECT_HAS(message_of([&] { fold.solve(View<const RowRating>(history)); }), "the value -1");
}

TEST(FoldIn, LossGoesToJsonAndBack) {
  FoldInLoss of_pairs = implicit_loss(3, 0.5, 1);
  of_pairs.implicit->others_count = false;
  for (const FoldInLoss& loss : {implicit_loss(3, 0.5, 1), of_pairs, FoldInLoss{std::nullopt, 0.25},
                                 FoldInLoss{std::nullopt, 0.25, 0.5}}) {
    EXPECT_EQ(FoldInLoss::from_json(loss.to_json(), "$").to_json(), loss.to_json());
  }
  EXPECT_EQ(of_pairs.implicit->row_reg(7, 1000), 3.5);
  EXPECT_EQ(of_pairs.to_json()["others_count"], false);
  EXPECT_FALSE(implicit_loss(3, 0.5, 1).to_json().contains("others_count"));
}

TEST(FoldIn, UsesTheRegularizationOfTheUsers) {
  const auto reg_of = [](const char* name, const Json& params) {
    const AlgorithmInfo& info = find_algorithm(name);
    return fold_in_loss(info, default_params(info.params, params)).reg;
  };
  EXPECT_EQ(reg_of("sgd_serial", {{"reg", 0.5}}), 0.5);
  EXPECT_EQ(reg_of("sgd_serial", {{"reg", 0.5}, {"reg_p", 0.25}}), 0.25);
  EXPECT_EQ(reg_of("als_cpu", {{"reg", 0.125}}), 0.125);
}

// Ranks by definition, without the evaluator's lists. Items of the history and of the validation
// part are no candidates. A user with other pairs only in the validation part has no history.
std::vector<std::int32_t> unseen_ranked(const Model& model, std::int32_t user,
                                        const std::vector<const Ratings*>& seen) {
  AlignedVector<std::int32_t> left_out;
  for (const Ratings* part : seen) {
    for (std::int64_t i = 0; i < part->nnz(); ++i) {
      if ((*part)[i].user == user) left_out.push_back((*part)[i].item);
    }
  }
  std::sort(left_out.begin(), left_out.end());
  return testing::ranked_list(scores_of(model, user), left_out, tie_key(RankingSpec{}.seed, user));
}

double ndcg_20_by_definition(const Split& split, const Model& model,
                             const std::vector<const Ratings*>& seen) {
  double sum = 0;
  int count = 0;
  for (std::int32_t u = 0; u < model.n_users; ++u) {
    AlignedVector<std::int32_t> held_out;
    for (std::int64_t i = 0; i < split.test.nnz(); ++i) {
      if (split.test[i].user == u) held_out.push_back(split.test[i].item);
    }
    const auto of_train = split.train.users();
    if (held_out.empty() || std::count(of_train.begin(), of_train.end(), u) == 0) continue;
    sum += testing::reference_ndcg(unseen_ranked(model, u, seen), held_out, 20);
    ++count;
  }
  return sum / count;
}

TEST(Ranking, OfTheTestPartLeavesOutItemsOfTheValidationPart) {
  Split split = random_split(kUsers, kItems, 0.2);
  const Ratings rest = split.train;
  const auto validates = [](std::int32_t u, std::int64_t i) { return u % 11 == 1 || i % 4 == 0; };
  split.train = part_of(rest, [&](auto u, auto i) { return !validates(u, i); });
  split.validation = part_of(rest, validates);
  const Model model = whole_model(kUsers, kItems, kFactors, 9, 3);
  const auto ndcg = [&](bool trial) {
    QualityEvaluator evaluator(split, Predictor(split.train), implicit_loss(1, 0.1),
                               ranking_at({20}), one_thread(), trial);
    EXPECT_EQ(evaluator.ranking_json()["seen"], trial ? "train" : "train + validation");
    EXPECT_GT(evaluator.ranking_json()["users_without_history"], 0);
    return *evaluator.evaluate(model.view(), one_thread())[Metric::named("ndcg", 20)];
  };
  const double both = ndcg_20_by_definition(split, model, {&split.train, &split.validation});
  EXPECT_NEAR(ndcg(false), both, 1e-12);
  split.test = split.validation;  // as in a trial
  const double train = ndcg_20_by_definition(split, model, {&split.train});
  EXPECT_NEAR(ndcg(true), train, 1e-12);
  EXPECT_GT(train, 0);
}

// Users held out whole are ranked by the rows that fold-in gives them, and the items of their
// history are left out.
TEST(FoldIn, RanksUsersWhoWereHeldOutWhole) {
  const Ratings all = random_ratings(50, 120, 0.2, 21);
  const auto is_held_out = [](std::int32_t u) { return u % 4 == 0; };
  Split split;
  split.train = part_of(all, [&](auto u, auto) { return !is_held_out(u); });
  split.fold_in = part_of(all, [&](auto u, auto i) { return is_held_out(u) && i % 5 != 0; });
  split.test = part_of(all, [&](auto u, auto i) { return is_held_out(u) && i % 5 == 0; });
  Model model = initial_model(50, 120, 6, ModelKind::plain, 0, InitSpec{InitKind::normal, 1, 2}, 1);
  const FoldInLoss loss = implicit_loss(2, 0.5);
  QualityEvaluator evaluator(split, Predictor(split.train), loss, ranking_at({20, 50, 100}),
                             one_thread());
  ThreadTeam team(2);
  const MetricValues found = evaluator.evaluate(model.view(), team);

  const RankedUsers users =
      choose_ranked_users(split.train, &split.fold_in, split.test, {}, true, one_thread());
  Model folded = model;
  const FoldIn fold(model.view(), loss, team);
  for (std::int64_t r = 0; r < users.count(); ++r) {
    const auto u = users.users[r];
    std::vector<RowRating> history;
    for (std::int64_t i = 0; i < split.fold_in.nnz(); ++i) {
      if (split.fold_in[i].user == u)
        history.push_back({split.fold_in[i].item, split.fold_in[i].value});
    }
    ASSERT_EQ(users.seen[r].size(), std::ssize(history));
    const auto row = fold.solve(View<const RowRating>(history));
    std::copy(row.factors.begin(), row.factors.end(), folded.p.begin() + std::int64_t{u} * 6);
  }
  expect_ranking(found, folded, users, {20, 50, 100});
}

}  // namespace
}  // namespace mf
