// The three algorithms through their public contract.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <tuple>

#include "algorithms/sgd_cpu/fpsgd.hpp"
#include "algorithms/sgd_cpu/stream_sgd.hpp"
#include "algorithms/sgd_cpu/test/support.hpp"
#include "base/json/json.hpp"

namespace mf::sgd_cpu {
namespace {

using test::planted;
using test::Reference;
using test::Trainer;

class BothModels : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, BothModels, testing::Values("biased", "plain"));

TEST_P(BothModels, SerialFollowsTheReferenceInTheSameOrder) {
  const Ratings train = planted(60, 40, 0.3, 1);
  Trainer trainer("sgd_serial", {{"factors", 20}, {"model", GetParam()}, {"reg", 0.05}}, train);
  Reference reference(trainer.initial, 0.02, 0.05);
  ThreadTeam team(1);
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
    trainer.run(1, 0.02);
    AlignedVector<Rating> order;
    fill_epoch_order(train, StreamOrder::shuffled, trainer.context.seed, epoch, team, order);
    for (std::int64_t k = 0; k < std::ssize(order); ++k) {
      reference.update(order[k]);
    }
    EXPECT_LT(test::largest_difference(trainer.model(), reference), 2e-5);
  }
  EXPECT_EQ(trainer.updates, 3 * train.nnz());
}

TEST(SgdSerial, EachRegularizerReachesItsOwnNumbers) {
  const Ratings train = planted(30, 20, 0.3, 1);
  Trainer trainer("sgd_serial",
                  {{"factors", 4},
                   {"order", "sequential"},
                   {"reg", 9.0},
                   {"reg_p", 0.1},
                   {"reg_q", 0.0},
                   {"reg_user_bias", 0.3}},
                  train);
  Reference reference(trainer.initial, 0.01, Regularizers{0.1, 0, 0.3, 9});
  for (std::int64_t k = 0; k < train.nnz(); ++k) reference.update(train[k]);
  trainer.run(1, 0.01);
  EXPECT_LT(test::largest_difference(trainer.model(), reference), 1e-5);
}

TEST(EpochOrder, IsFreshEachEpochAndHoldsEveryRatingOnce) {
  const Ratings train = planted(60, 40, 0.3, 1);
  ThreadTeam team(2);
  AlignedVector<Rating> first;
  AlignedVector<Rating> second;
  fill_epoch_order(train, StreamOrder::shuffled, 1, 1, team, first);
  fill_epoch_order(train, StreamOrder::shuffled, 1, 2, team, second);
  std::int64_t same = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    same += first[k].user == second[k].user && first[k].item == second[k].item;
    pairs.emplace_back(second[k].user, second[k].item);
  }
  EXPECT_LT(same, train.nnz() / 20);
  std::sort(pairs.begin(), pairs.end());
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    EXPECT_EQ(pairs[k], std::pair(train[k].user, train[k].item));
  }
}

// Users 0, 2 and 3 of four have ratings: turns 0 2 3 0 2 3 ... that go on in the next epoch.
auto fields(const Rating& r) { return std::tuple(r.user, r.item, r.value); }

TEST(EpochOrder, UsersTakeTurnsWithRandomRatingsOfTheirOwn) {
  const std::vector<Rating> list = {{0, 1, 1.0F}, {2, 0, 4.0F}, {2, 1, 4.0F}, {2, 2, 4.0F},
                                    {2, 3, 4.0F}, {3, 0, 2.0F}, {3, 2, 3.0F}};
  const Ratings train = test::ratings_of(4, 4, list);
  ThreadTeam one(1);
  ThreadTeam three(3);
  constexpr std::int32_t kTurns[] = {0, 2, 3};
  std::vector<std::int64_t> drawn(4);
  std::int64_t turn = 0;
  for (std::int64_t epoch = 1; epoch <= 3000; ++epoch) {
    AlignedVector<Rating> order;
    AlignedVector<Rating> again;
    fill_epoch_order(train, StreamOrder::users, 1, epoch, one, order);
    fill_epoch_order(train, StreamOrder::users, 1, epoch, three, again);
    ASSERT_EQ(std::ssize(order), train.nnz());
    for (std::int64_t k = 0; k < std::ssize(order); ++k, ++turn) {
      const Rating r = order[k];
      ASSERT_EQ(r.user, kTurns[turn % 3]);
      ASSERT_EQ(std::count_if(list.begin(), list.end(),
                              [&](const Rating& x) { return fields(x) == fields(r); }),
                1);
      ASSERT_EQ(fields(again[k]), fields(r));
      if (r.user == 2) ++drawn[r.item];
    }
  }
  // 7,000 draws of user 2, each of its four ratings 1,750 +- 5 standard deviations of 36.
  for (const std::int64_t count : drawn) EXPECT_NEAR(static_cast<double>(count), 1750, 181);
}

TEST_P(BothModels, HogwildWithOneThreadIsSerialBitForBit) {
  const Ratings train = planted(150, 120, 0.6, 1);
  ASSERT_GT(train.nnz(), 8192);  // more than one chunk
  const Json changes = {{"factors", 33}, {"model", GetParam()}};
  Trainer serial("sgd_serial", changes, train);
  Trainer hogwild("hogwild", changes, train);
  serial.run(3);
  hogwild.run(3);
  EXPECT_TRUE(test::same_bits(serial.model(), hogwild.model()));
  EXPECT_FALSE(test::same_bits(serial.model(), serial.initial));
}

TEST(Hogwild, ThreadsEndWithinABandOfSerial) {
  const Ratings train = planted(200, 150, 0.4, 1);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Trainer serial("sgd_serial", {{"factors", 8}}, train, 1, seed);
    Trainer hogwild("hogwild", {{"factors", 8}}, train, 4, seed);
    const double start = serial.rmse();
    serial.run(30, 0.02);
    hogwild.run(30, 0.02);
    EXPECT_EQ(hogwild.updates, 30 * train.nnz());
    EXPECT_LT(serial.rmse(), 0.5 * start);
    EXPECT_NEAR(hogwild.rmse(), serial.rmse(), 0.05 * serial.rmse()) << "seed " << seed;
  }
}

// With block_order first and one thread an epoch follows the order of the blocks.
TEST_P(BothModels, FpsgdIsTheReferenceInItsOwnOrder) {
  const Ratings train = planted(80, 60, 0.3, 1);
  Trainer trainer("fpsgd",
                  {{"factors", 20},
                   {"model", GetParam()},
                   {"grid_users", 5},
                   {"grid_items", 4},
                   {"block_order", "first"},
                   {"reg", 0.02}},
                  train);
  const BlockGrid& grid = dynamic_cast<Fpsgd&>(*trainer.algorithm).grid();
  EXPECT_EQ(grid.blocks().size(), 20U);
  Reference reference(trainer.initial, 0.02, 0.02);
  for (int epoch = 1; epoch <= 3; ++epoch) {
    trainer.run(1, 0.02);
    for (const Block& block : grid.blocks()) test::update_block(reference, grid, block);
    EXPECT_LT(test::largest_difference(trainer.model(), reference), 2e-5);
  }
}

// Four threads on one grid. Blocks that share a stripe never overlap, so the order in which blocks
// were taken is a serial order with the same result.
TEST(Fpsgd, ThreadsComputeWhatTheirBlocksComputeOneByOne) {
  const Ratings train = planted(200, 150, 0.3, 1);
  const Params params =
      default_params(find_algorithm("fpsgd").params, Json{{"factors", 20}, {"reg", 0.02}});
  const Settings settings = read_settings(params);
  const Model initial = test::initial_for(train, params);
  ThreadTeam team(4);
  const BlockGrid grid(train, {9, 7}, 3, team);
  BlockScheduler scheduler(grid.cells(), 9, 7, BlockOrder::random);
  RowStore rows(initial, grid.user_of_row(), grid.item_of_row(), {0, initial.n_users},
                {0, initial.n_items}, team);
  const Step step = step_at(0.02, settings.reg, initial.mean);
  std::mutex mutex;
  std::vector<std::int32_t> taken;
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
    scheduler.start_epoch(Rng(1, epoch));
    team.run([&](int) {
      for (auto index = scheduler.take(); index; index = scheduler.swap(*index)) {
        {
          const std::lock_guard lock(mutex);
          taken.push_back(*index);
        }
        const Block& block = grid.blocks()[*index];
        settings.kernels().runs(rows.rows(), step, grid.runs_of(block), block.runs,
                                grid.ratings_of(block), block.ratings);
      }
    });
  }
  ASSERT_EQ(taken.size(), 3 * grid.blocks().size());
  Reference reference(initial, 0.02, 0.02);
  for (const std::int32_t b : taken) {
    test::update_block(reference, grid, grid.blocks()[b]);
  }
  RowStore ordered;
  rows.unpermute_into(ordered, grid.user_of_row(), grid.item_of_row(), team);
  EXPECT_LT(test::largest_difference(copy_model(ordered.view()), reference), 2e-5);
}

TEST(Fpsgd, FactorsAreInTheOrderOfTheUsersAndItems) {
  const Ratings train = planted(70, 50, 0.2, 1);
  Trainer trainer("fpsgd", {{"factors", 7}}, train, 3);
  EXPECT_TRUE(test::same_bits(trainer.model(), trainer.initial));
}

struct Learner {
  const char* name;
  int threads;
};
class Learning : public testing::TestWithParam<std::tuple<Learner, const char*>> {};
INSTANTIATE_TEST_SUITE_P(All, Learning,
                         testing::Combine(testing::Values(Learner{"sgd_serial", 1},
                                                          Learner{"hogwild", 3},
                                                          Learner{"fpsgd", 1}, Learner{"fpsgd", 3}),
                                          testing::Values("biased", "plain")));

// The planted matrix has noise of 0.1 and a deviation of about 1.
TEST_P(Learning, ErrorFallsTowardsTheNoise) {
  const auto& [learner, model] = GetParam();
  const Ratings train = planted(200, 150, 0.4, 1);
  Trainer trainer(learner.name, {{"factors", 8}, {"model", model}}, train, learner.threads);
  const double start = trainer.rmse();
  trainer.run(60, 0.03);
  EXPECT_GT(start, 0.8);
  EXPECT_LT(trainer.rmse(), 0.2);
  EXPECT_EQ(trainer.updates, 60 * train.nnz());
}

class EveryAlgorithm : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Names, EveryAlgorithm, testing::Values("sgd_serial", "hogwild", "fpsgd"));

TEST_P(EveryAlgorithm, OddMatricesTrain) {
  const std::vector<Ratings> matrices = {
      test::ratings_of(1, 1, {{0, 0, 3.0F}}),
      test::ratings_of(5, 7, {{4, 6, 3.0F}}),
      test::ratings_of(1, 9, {{0, 1, 1.0F}, {0, 8, 2.0F}}),
      test::ratings_of(9, 1, {{1, 0, 1.0F}, {8, 0, 2.0F}}),
      test::ratings_of(4, 4, {{0, 0, 1.0F}, {2, 3, 2.0F}}),
      test::ratings_of(3, 3, {}),
  };
  for (const Ratings& train : matrices) {
    Trainer trainer(GetParam(), {{"factors", 5}}, train, 4);
    const double start = trainer.rmse();
    trainer.run(50, 0.05);
    EXPECT_EQ(trainer.updates, 50 * train.nnz());
    EXPECT_LE(trainer.rmse(), start);
    EXPECT_EQ(trainer.algorithm->work_per_epoch().updates, static_cast<double>(train.nnz()));
  }
}

TEST_P(EveryAlgorithm, UnratedRowsKeepTheirInitialFactors) {
  const Ratings train = test::ratings_of(4, 4, {{0, 0, 1.0F}, {2, 3, 2.0F}});
  Trainer trainer(GetParam(), {{"factors", 3}}, train, 2);
  trainer.run(5);
  const Model m = trainer.model();
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(m.p[3 + k], trainer.initial.p[3 + k]);
    EXPECT_EQ(m.q[3 + k], trainer.initial.q[3 + k]);
    EXPECT_NE(m.p[k], trainer.initial.p[k]);
  }
  EXPECT_EQ(m.user_bias[1], 0.0F);
  EXPECT_NE(m.user_bias[0], 0.0F);
}

TEST_P(EveryAlgorithm, StopsEarlyWhenAsked) {
  const Ratings train = planted(1100, 900, 0.8, 1);
  ASSERT_GT(train.nnz(), std::int64_t{1} << 19);
  Trainer trainer(GetParam(), {{"factors", 2}}, train, 1);
  int asked = 0;
  trainer.context.stop_requested = [&] {
    ++asked;
    return true;
  };
  trainer.run(1);
  EXPECT_EQ(asked, 1);
  EXPECT_GT(trainer.updates, 0);
  EXPECT_LT(trainer.updates, train.nnz());
  trainer.context.stop_requested = [] { return false; };
  trainer.updates = 0;
  trainer.run(1);
  EXPECT_EQ(trainer.updates, train.nnz());
}

// 3 rated users and 2 rated items of 4 x 4, f = 5, biased: 4 ratings of 12 B, and 5 rows of 6
// floats read and written; 10 f + 13 flops a rating (README.md).
TEST_P(EveryAlgorithm, WorkIsWhatTheReadmeDerives) {
  const Ratings train =
      test::ratings_of(4, 4, {{0, 0, 1.0F}, {1, 0, 1.0F}, {3, 0, 1.0F}, {3, 2, 2.0F}});
  Trainer trainer(GetParam(), {{"factors", 5}}, train);
  const Work work = trainer.algorithm->work_per_epoch();
  EXPECT_EQ(work.updates, 4);
  EXPECT_EQ(work.bytes, 4 * 12 + 2 * 5 * 6 * 4);
  EXPECT_EQ(work.flops, 4 * (50 + 13));
}

TEST_P(EveryAlgorithm, RefusesFactorsThatDoNotFit) {
  const Ratings train = planted(20, 10, 0.3, 1);
  const Params params = default_params(find_algorithm(GetParam()).params, Json{{"factors", 5}});
  const Params other = default_params(find_algorithm(GetParam()).params, Json{{"factors", 6}});
  ThreadTeam team(1);
  Context context;
  context.team = &team;
  EXPECT_THROW(
      make_algorithm(GetParam(), params)->prepare(train, test::initial_for(train, other), context),
      std::logic_error);
}

TEST(Info, FpsgdRefusesAGridOfTooManyBlocks) {
  const auto& info = find_algorithm("fpsgd");
  const auto refused = [&](const Json& changes, const ProblemShape& shape) {
    return info.supports(default_params(info.params, changes), shape).has_value();
  };
  const ProblemShape large = {100'000, 100'000, 1'000'000};
  EXPECT_TRUE(refused({{"grid_users", 65536}, {"grid_items", 65536}}, large));
  EXPECT_FALSE(refused(Json::object(), large));
  // It is the grid that counts: one side follows the threads, and none has more than its rows.
  EXPECT_TRUE(refused({{"grid_users", 65536}, {"threads", 4096}}, large));
  EXPECT_FALSE(refused({{"grid_users", 65536}, {"grid_items", 65536}}, {943, 1682, 100'000}));
}

}  // namespace
}  // namespace mf::sgd_cpu
