// fpsgd over ranks, which are threads here.
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "algorithms/sgd_cpu/fpsgd.hpp"
#include "algorithms/sgd_cpu/test/support.hpp"
#include "base/json/json.hpp"
#include "base/ranks/communicator.hpp"
#include "testing/rank_threads.hpp"

namespace mf::sgd_cpu {
namespace {

using test::planted;
using test::Reference;

constexpr double kRate = 0.02, kReg = 0.02;

struct OfRank {
  explicit OfRank(const Params& params) : fpsgd(params) {}
  Fpsgd fpsgd;
  std::int64_t updates = 0;
};

struct World {
  std::vector<std::unique_ptr<OfRank>> ranks;
  Model initial, trained;
  std::vector<std::string> errors;  // of each rank; "": no error

  std::string all_errors() const {
    return std::accumulate(errors.begin(), errors.end(), std::string());
  }
};

struct Run {
  int ranks = 1;
  int epochs = 3;
  int threads = 1;
  std::function<bool(int)> stop = {};
};

World train_over(const Ratings& train, Json changes, const Run& how) {
  changes["reg"] = kReg;
  const Params params = default_params(find_algorithm("fpsgd").params, changes);
  World world;
  world.initial = test::initial_for(train, params);
  for (int rank = 0; rank < how.ranks; ++rank) {
    world.ranks.push_back(std::make_unique<OfRank>(params));
  }
  world.errors = mf::test::in_rank_threads(how.ranks, [&](Communicator& ranks) {
    OfRank& own = *world.ranks[ranks.rank()];
    ThreadTeam team(how.threads);
    Context context;
    context.team = &team;
    const RankLoan loan{&ranks};
    context.ranks = &loan;
    if (how.stop) context.stop_requested = [&] { return how.stop(ranks.rank()); };
    own.fpsgd.prepare(train, world.initial, context);
    for (int epoch = 1; epoch <= how.epochs; ++epoch) {
      own.updates += own.fpsgd.run_epoch({epoch, kRate}, context);
    }
    own.fpsgd.gather_factors(context);
    if (ranks.leads()) world.trained = copy_model(own.fpsgd.factors());
  });
  return world;
}

// Blocks of the part of the items that a rank has in a stage: it starts with the part of its own
// number, and gets the part of the rank before it.
std::vector<Block> blocks_of_stage(const BlockGrid& grid, int rank, int stage, int ranks) {
  const int part = (rank - stage + ranks) % ranks;
  const int stripes = grid.shape().items / ranks;
  std::vector<Block> blocks;
  for (const Block& block : grid.blocks()) {
    if (block.cell.item_stripe / stripes == part) blocks.push_back(block);
  }
  return blocks;
}

void run_epoch(Reference& reference, const World& world) {
  const int ranks = static_cast<int>(world.ranks.size());
  for (int stage = 0; stage < ranks; ++stage) {
    for (int rank = 0; rank < ranks; ++rank) {
      const BlockGrid& grid = world.ranks[rank]->fpsgd.grid();
      for (const Block& block : blocks_of_stage(grid, rank, stage, ranks)) {
        test::update_block(reference, grid, block);
      }
    }
  }
}

// Three epochs in that order, and the ranks' results.
void expect_ring(const World& world) {
  ASSERT_EQ(world.all_errors(), "");
  Reference reference(world.initial, kRate, kReg);
  for (int epoch = 1; epoch <= 3; ++epoch) run_epoch(reference, world);
  EXPECT_LT(test::largest_difference(world.trained, reference), 2e-5);
}

class Models : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Fpsgd, Models, testing::Values("biased", "plain"));

TEST_P(Models, RanksComputeWhatOneComputesInTheOrderOfTheRing) {
  const Ratings train = planted(80, 60, 0.3, 1);
  const Json changes = {{"factors", 20},
                        {"model", GetParam()},
                        {"grid_users", 9},
                        {"grid_items", 7},
                        {"block_order", "first"}};
  for (const int ranks : {1, 2, 3, 4}) {
    const World world = train_over(train, changes, {ranks});
    SCOPED_TRACE(ranks);
    expect_ring(world);
    for (const auto& one : world.ranks) EXPECT_EQ(one->updates, 3 * train.nnz());
  }
}

TEST(FpsgdRanks, EachRatingIsOfOneRankAndSharesAreEven) {
  const Ratings train = planted(300, 200, 0.2, 2);
  const World world = train_over(train, {{"factors", 4}}, {4, 1, 2});
  ASSERT_EQ(world.all_errors(), "");
  std::set<std::tuple<std::int32_t, std::int32_t>> seen;
  for (const auto& one : world.ranks) {
    const BlockGrid& grid = one->fpsgd.grid();
    std::int64_t own = 0;
    for (const Block& block : grid.blocks()) {
      const RowRating* rating = grid.ratings_of(block);
      for (std::int64_t r = 0; r < block.runs; ++r) {
        for (std::int32_t k = 0; k < grid.runs_of(block)[r].count; ++k, ++rating, ++own) {
          seen.emplace(grid.runs_of(block)[r].user, rating->other);
        }
      }
    }
    EXPECT_EQ(one->fpsgd.facts()["own_ratings"], own);
    EXPECT_NEAR(static_cast<double>(own), static_cast<double>(train.nnz()) / 4, 120);
  }
  EXPECT_EQ(std::ssize(seen), train.nnz());
}

// Three users and two items: some ranks have no row of one side, or of both.
TEST(FpsgdRanks, MoreRanksThanRows) {
  const Ratings train = planted(3, 2, 1, 5);
  expect_ring(train_over(train, {{"factors", 2}, {"block_order", "first"}}, {5}));
}

// Blocks in any order and threads within each rank: as good a model as one process makes.
TEST(FpsgdRanks, TheModelIsAsGoodAsThatOfOneProcess) {
  const Ratings train = planted(200, 150, 0.4, 1);
  const World one = train_over(train, {{"factors", 8}}, {1, 30});
  const World three = train_over(train, {{"factors", 8}}, {3, 30, 2});
  ASSERT_EQ(three.all_errors(), "");
  const double single = test::train_rmse(one.trained.view(), train);
  EXPECT_LT(single, 0.5 * test::train_rmse(one.initial.view(), train));
  EXPECT_NEAR(test::train_rmse(three.trained.view(), train), single, 0.05 * single);
}

// One rank is asked to stop in its part of a stage: all end that epoch with it, in the same place.
TEST(FpsgdRanks, WhatOneGivesUpAllGiveUp) {
  const Ratings train = planted(80, 60, 0.3, 1);
  const World world = train_over(train, {{"factors", 2}}, {2, 1, 1, [](int r) { return r == 0; }});
  ASSERT_EQ(world.all_errors(), "");
  EXPECT_EQ(world.ranks[0]->updates, world.ranks[1]->updates);
  EXPECT_LT(world.ranks[0]->updates, train.nnz());
}

}  // namespace
}  // namespace mf::sgd_cpu
