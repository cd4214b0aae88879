// als_cpu over ranks, which are threads here: the same factors, bit for bit, for any number of
// them.
#include <gtest/gtest.h>

#include <functional>

#include "algorithms/als/test/reference.hpp"
#include "algorithms/core/ranks/ranked.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "base/ranks/communicator.hpp"
#include "testing/models.hpp"
#include "testing/rank_threads.hpp"
#include "testing/trainer.hpp"

namespace mf::als {
namespace {

using mf::test::expect_same;
using test::planted;

struct Outcome {
  Model model;
  std::int64_t updates = 0;
  Json facts;
  std::string error;
};

Outcome train_one(const Ratings& train, const Params& params, Communicator* ranks, int threads,
                  const std::function<bool()>& stop) {
  ThreadTeam team(threads);
  Context context;
  context.team = &team;
  const RankLoan loan{ranks};
  if (ranks != nullptr) context.ranks = &loan;
  context.stop_requested = stop;
  auto algorithm = make_algorithm("als_cpu", params);
  const auto prepare = [&](const Ratings& ratings) {
    algorithm->prepare(ratings, mf::test::plain_start(ratings, params), context);
  };
  if (ranks == nullptr) {
    prepare(train);
  } else {
    prepare(Ratings(mf::test::arrays_of(train)));  // which is gone after it
  }
  Outcome outcome;
  outcome.facts = algorithm->facts();
  for (int epoch = 1; epoch <= 3; ++epoch) {
    outcome.updates += algorithm->run_epoch({epoch, 0}, context);
  }
  outcome.model = copy_model(algorithm->factors());
  return outcome;
}

std::vector<Outcome> train_ranks(const Ratings& train, const Json& changes, int count,
                                 const std::function<bool(int)>& stop = {}) {
  const Params params = default_params(find_algorithm("als_cpu").params, test::papers(changes));
  std::vector<Outcome> outcomes(count);
  const auto errors = mf::test::in_rank_threads(count, [&](Communicator& ranks) {
    const int rank = ranks.rank();
    std::function<bool()> own;
    if (stop) own = [&stop, rank] { return stop(rank); };
    outcomes[rank] = train_one(train, params, &ranks, 1 + rank % 2, own);
  });
  for (int rank = 0; rank < count; ++rank) outcomes[rank].error = errors[rank];
  return outcomes;
}

Outcome train_single(const Ratings& train, const Json& changes) {
  const Params params = default_params(find_algorithm("als_cpu").params, test::papers(changes));
  return train_one(train, params, nullptr, 1, {});
}

TEST(AlsRanks, AnyNumberOfThemHasTheSameFactors) {
  const Ratings train = planted(120, 70, 0.3, 1);
  for (const Json& changes :
       {Json{{"factors", 8}}, Json{{"factors", 19}, {"center", "biases"}, {"solver", "cg"}},
        Json{{"factors", 5}, {"center", "mean"}, {"solver", "lu"}},
        Json{{"factors", 8}, {"center", "solved"}},
        Json{{"factors", 6}, {"center", "biases"}, {"reg_power", 0.5}, {"first", "items"}},
        Json{{"factors", 7}, {"center", "none"}, {"reg", 0.1}}}) {
    const Outcome single = train_single(train, changes);
    for (const int count : {1, 2, 3, 4}) {
      const auto outcomes = train_ranks(train, changes, count);
      const double share = static_cast<double>(train.nnz()) / count;
      std::int64_t by_user = 0, by_item = 0;
      for (const Outcome& one : outcomes) {
        ASSERT_EQ(one.error, "");
        expect_same(one.model, single.model);
        EXPECT_EQ(one.updates, single.updates);
        by_user += one.facts["own_ratings_by_user"].get<std::int64_t>();
        by_item += one.facts["own_ratings_by_item"].get<std::int64_t>();
        EXPECT_LT(one.facts["own_ratings_by_user"], 1.3 * share + 70);
        EXPECT_LT(one.facts["own_ratings_by_item"], 1.3 * share + 120);
      }
      EXPECT_EQ(by_user, train.nnz());
      EXPECT_EQ(by_item, train.nnz());
    }
  }
}

// Three users and two items: some ranks have no row of one side, or of both.
TEST(AlsRanks, MoreRanksThanRows) {
  const Ratings train = planted(3, 2, 1, 5);
  const Json changes = {{"factors", 2}, {"reg", 0.5}};
  const Outcome single = train_single(train, changes);
  for (const Outcome& one : train_ranks(train, changes, 5)) {
    ASSERT_EQ(one.error, "");
    expect_same(one.model, single.model);
  }
}

// One rank is asked to stop in its half of the rows: no other goes on with rows that are half done.
TEST(AlsRanks, WhatOneGivesUpAllGiveUp) {
  const Ratings train = planted(120, 70, 0.3, 1);
  for (const Outcome& one :
       train_ranks(train, {{"factors", 8}}, 3, [](int rank) { return rank == 0; })) {
    EXPECT_EQ(one.error, "");
    EXPECT_EQ(one.updates, 0);
  }
}

}  // namespace
}  // namespace mf::als
