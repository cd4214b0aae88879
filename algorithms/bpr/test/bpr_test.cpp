// Draws by their distribution, the update against the equations, and the effects of threads.
#include <gtest/gtest.h>

#include <map>

#include "algorithms/bpr/test/reference.hpp"
#include "base/error.hpp"
#include "testing/models.hpp"
#include "testing/trainer.hpp"

namespace mf::bpr::test {
namespace {

using mf::test::Trainer;

Model start(const Ratings& train, const Params& params) {
  return initial_model(train.n_users(), train.n_items(),
                       static_cast<std::int32_t>(params.integer("factors")), ModelKind::plain, 0,
                       {InitKind::normal, 0.1, 5}, 1);
}

// Sum of (seen - expected)^2 / expected; of n cells it is about n, with deviation sqrt(2 n).
double chi_square(const std::map<std::int32_t, std::int64_t>& seen,
                  const std::map<std::int32_t, double>& expected) {
  double sum = 0;
  for (const auto& [item, mean] : expected) {
    const auto at = seen.find(item);
    const double count = at == seen.end() ? 0 : static_cast<double>(at->second);
    sum += (count - mean) * (count - mean) / mean;
  }
  return sum;
}

// Draws `count` items for the user by `draw`, all of which are expected ones, and checks how often
// each came: chances need not add up to 1.
template <class Draw>
void expect_drawn_as(std::map<std::int32_t, double> chances, std::int64_t count, Draw&& draw) {
  double all = 0;
  for (const auto& [item, chance] : chances) all += chance;
  for (auto& [item, chance] : chances) chance *= static_cast<double>(count) / all;
  std::map<std::int32_t, std::int64_t> seen;
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int32_t item = draw(t);
    ASSERT_EQ(chances.count(item), 1U) << item;
    ++seen[item];
  }
  const auto cells = static_cast<double>(chances.size());
  EXPECT_NEAR(chi_square(seen, chances), cells, 5 * std::sqrt(2 * cells));
}

TEST(BprDraws, AbsentItemsAreThoseThatTheRowHasNot) {
  const std::vector<std::vector<std::int32_t>> rows = {
      {}, {0}, {6}, {3}, {0, 1, 2}, {4, 5, 6}, {0, 2, 4, 6}, {1, 3, 5}, {0, 1, 2, 3, 4, 5, 6}};
  for (const auto& items : rows) {
    const Row row = {items.data(), static_cast<std::int32_t>(items.size())};
    std::int32_t absent = 0;
    for (std::int32_t item = 0; item < 7; ++item) {
      const bool has = std::count(items.begin(), items.end(), item) > 0;
      EXPECT_EQ(has_item(row, item), has);
      if (has) continue;
      EXPECT_EQ(absent_item(row, absent++), item);
    }
  }
}

TEST(BprDraws, NegativesAreExactAndOfTheirDistribution) {
  const Ratings train = tastes(60, 90);
  const Pairs pairs = pairs_of(train);
  std::map<std::int32_t, double> popularity;
  for (const std::int32_t item : train.items()) ++popularity[item];
  for (const std::int32_t user : {0, 1, 2, 33}) {
    const Row row = row_of(pairs, user);
    for (const Negatives kind : {Negatives::uniform, Negatives::popular}) {
      std::map<std::int32_t, double> chances;
      for (std::int32_t item = 0; item < 90; ++item) {
        if (has_item(row, item)) continue;
        if (kind == Negatives::uniform) chances[item] = 1;
        if (kind == Negatives::popular && popularity[item] > 0) chances[item] = popularity[item];
      }
      if (chances.empty()) chances[1] = 1;  // the only item that user 1 lacks; no user has it
      expect_drawn_as(chances, 100000, [&](std::int64_t t) {
        Rng rng = rng_of(3, train.nnz(), 1 + t / train.nnz(), t % train.nnz());
        return draw_other(pairs, row, kind, rng);
      });
    }
  }
}

TEST(BprRule, RankWeightIsTheHarmonicSum) {
  double sum = 0;
  for (std::int64_t rank = 1; rank < 3000; ++rank) {
    sum += 1 / static_cast<double>(rank);
    EXPECT_NEAR(rank_weight(rank, 1), sum, 0.002) << rank;
  }
  EXPECT_EQ(rank_weight(10, 3), rank_weight(3, 1));
  EXPECT_EQ(rank_weight(10, 30), rank_weight(1, 1));
}

void expect_reference(const std::string& name, const Json& changes, double rate = 0.05) {
  const Ratings train = tastes(61, 37);
  Trainer trainer(name, changes, train, start);
  Reference reference(read_settings(trainer.params), train, trainer.initial);
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
    trainer.run(1, rate);
    reference.run(epoch, rate);
  }
  EXPECT_EQ(trainer.updates, 3 * train.nnz());
  const Model model = trainer.model();
  if (reference.of.cosine()) reference.scale_items();
  for (std::size_t k = 0; k < reference.p.size(); ++k) {
    ASSERT_NEAR(model.p[k], reference.p[k], 1e-3) << name << changes << k;
  }
  for (std::size_t k = 0; k < reference.q.size(); ++k) {
    ASSERT_NEAR(model.q[k], reference.q[k], 1e-3) << name << changes << k;
  }
}

TEST(BprCpu, OneThreadIsTheSerialMethod) {
  for (const int f : {1, 3, 16, 33}) {
    for (const char* loss : {"bpr", "warp", "logistic"}) {
      expect_reference("bpr_cpu", {{"factors", f}, {"loss", loss}, {"reg", 0.02}});
    }
  }
  expect_reference("bpr_cpu", {{"factors", 5}, {"negatives", "popular"}});
  expect_reference("bpr_cpu", {{"factors", 5}, {"loss", "warp"}, {"max_tries", 2}});
  expect_reference("bpr_cpu", {{"factors", 5}, {"loss", "logistic"}, {"alpha", 2.5}});
}

TEST(BprCpu, ManyNegativesAreTheEquations) {
  // A small step: with a large one a cosine at the margin makes rounding errors grow.
  constexpr double kSmall = 0.005;
  for (const int f : {1, 3, 17}) {
    for (const int n : {2, 5, 70}) {
      expect_reference("bpr_cpu", {{"factors", f}, {"negatives_per_pair", n}, {"reg", 0.02}});
    }
    for (const int n : {1, f == 3 ? 37 : 9}) {
      for (const double margin : {-0.5, 0.0, 0.4}) {
        expect_reference("bpr_cpu",
                         {{"factors", f},
                          {"loss", "ccl"},
                          {"negatives_per_pair", n},
                          {"margin", margin},
                          {"negative_weight", 3},
                          {"reg", 0.02}},
                         kSmall);
      }
    }
  }
  expect_reference("bpr_cpu",
                   {{"factors", 5}, {"negatives_per_pair", 3}, {"negatives", "popular"}});
}

TEST(BprCpu, ItemsOfCclHaveLengthOne) {
  const Ratings train = tastes(61, 37);
  Trainer trainer("bpr_cpu", {{"factors", 20}, {"loss", "ccl"}}, train, start);
  trainer.run(2, 0.1);
  const Model model = trainer.model();
  mf::test::expect_same(model, trainer.model());
  for (std::int64_t i = 0; i < model.n_items; ++i) {
    double square = 0;
    for (std::int64_t k = 0; k < 20; ++k) square += std::pow(model.q[i * 20 + k], 2);
    EXPECT_NEAR(square, 1, 1e-5);
  }
  // The model that is shown is a copy: reading it changes no further epoch.
  Trainer unseen("bpr_cpu", {{"factors", 20}, {"loss", "ccl"}}, train, start);
  unseen.run(3, 0.1);
  trainer.run(1, 0.1);
  mf::test::expect_same(trainer.model(), unseen.model());
}

TEST(BprCpu, OtherLossesHaveOneNegative) {
  const AlgorithmInfo& info = find_algorithm("bpr_cpu");
  for (const char* loss : {"bpr", "ccl", "warp", "logistic"}) {
    const Json many = {{"loss", loss}, {"negatives_per_pair", 2}};
    const bool takes = loss == std::string("bpr") || loss == std::string("ccl");
    EXPECT_EQ(!info.supports(default_params(info.params, many), {}), takes) << loss;
    EXPECT_FALSE(info.supports(default_params(info.params, {{"loss", loss}}), {})) << loss;
  }
}

TEST(BprCpu, ThreadsDrawTheSameAndLearnTheSame) {
  const Ratings train = tastes(400, 120);
  const auto trained = [&](int threads) {
    Trainer trainer("bpr_cpu", {{"factors", 8}}, train, start, threads);
    EXPECT_LT(share_in_order(trainer.model()), 0.6);
    trainer.run(20, 0.05);
    return trainer.model();
  };
  const Model one = trained(1);
  mf::test::expect_same(one, trained(1));
  EXPECT_GT(share_in_order(one), 0.95);
  EXPECT_NEAR(share_in_order(trained(4)), share_in_order(one), 0.02);
}

TEST(BprCpu, CclLearnsTheTastes) {
  const Ratings train = tastes(400, 120);
  Trainer trainer("bpr_cpu",
                  {{"factors", 8},
                   {"loss", "ccl"},
                   {"negatives_per_pair", 8},
                   {"margin", 0.4},
                   {"negative_weight", 4}},
                  train, start, 2);
  trainer.run(20, 0.1);
  EXPECT_GT(share_in_order(trainer.model()), 0.9);
}

TEST(BprCpu, ZerosAreNotObserved) {
  const Ratings train = tastes(40, 30);
  std::vector<Rating> with_zeros;
  for (std::int32_t u = 0; u < 40; ++u) {
    std::map<std::int32_t, float> row;
    for (std::int64_t k = train.user_offsets()[u]; k < train.user_offsets()[u + 1]; ++k) {
      row[train.items()[k]] = train.values()[k];
    }
    for (std::int32_t i = 0; i < 30; ++i) {
      if (row.count(i) > 0 || (u + i) % 3 == 0) with_zeros.push_back({u, i, row[i]});
    }
  }
  const Ratings zeros = mf::test::ratings_of(40, 30, with_zeros);
  ASSERT_GT(zeros.nnz(), train.nnz());
  Trainer a("bpr_cpu", {{"factors", 4}, {"loss", "logistic"}}, train, start);
  Trainer b("bpr_cpu", {{"factors", 4}, {"loss", "logistic"}}, zeros, start);
  a.run(2, 0.05);
  b.run(2, 0.05);
  EXPECT_EQ(a.updates, b.updates);
  mf::test::expect_same(a.model(), b.model());
}

TEST(BprCpu, WhoHasAllItemsTeachesNothing) {
  const Ratings train = mf::test::ratings_of(2, 2, {{0, 0, 1}, {0, 1, 1}});
  for (const char* loss : {"bpr", "warp", "logistic", "ccl"}) {
    Trainer trainer("bpr_cpu", {{"factors", 3}, {"loss", loss}}, train, start);
    const Model before = trainer.model();
    trainer.run(3, 0.1);
    mf::test::expect_same(trainer.model(), before);
  }
}

}  // namespace
}  // namespace mf::bpr::test
