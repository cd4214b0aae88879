#include <gtest/gtest.h>

#include "algorithms/ials/blocks/settings.hpp"
#include "algorithms/ials/test/reference.hpp"
#include "algorithms/ials/test/trainer.hpp"
#include "testing/models.hpp"
#include "testing/test_support.hpp"
#include "testing/triples.hpp"

namespace mf::ials {
namespace {

using test::clicks;
using test::Dense;
using test::Matrix;
using test::rows_of;
using test::Trainer;

constexpr std::int32_t kUsers = 90;
constexpr std::int32_t kItems = 60;

TEST(IalsPpCpu, AnEpochIsThatOfTheEquations) {
  const Ratings train = clicks(kUsers, kItems, 0.2, 1);
  for (const int f : {1, 16, 40, 50, 100}) {
    for (const int block : {16, 32, 128}) {
      const Json changes = {
          {"factors", f}, {"block_size", block},  {"reg", 1},
          {"alpha", 2},   {"reg_exponent", 0.25}, {"popularity_exponent", block == 16 ? 0.6 : 0}};
      Trainer trainer("ials_pp_cpu", changes, train, 2);
      const Dense dense(train, trainer.loss);
      Matrix x = rows_of(trainer.initial.p, kUsers);
      Matrix y = rows_of(trainer.initial.q, kItems);
      test::newton_epoch(dense, block, x, y);
      trainer.run(1);
      const Model model = trainer.model();
      EXPECT_LT((rows_of(model.p, kUsers) - x).cwiseAbs().maxCoeff(), 1e-3) << changes;
      EXPECT_LT((rows_of(model.q, kItems) - y).cwiseAbs().maxCoeff(), 1e-3) << changes;
      EXPECT_GT(x.cwiseAbs().maxCoeff(), 0.1);
    }
  }
}

TEST(IalsPpCpu, AnEpochOfLongRowsIsThatOfTheEquations) {
  const Ratings train = clicks(14, 9, 0.3, 5);
  for (const auto& [f, block] : {std::pair{1000, 64}, {1030, 128}, {2048, 512}}) {
    const Json changes = {{"factors", f}, {"block_size", block}, {"reg", 1}, {"alpha", 2}};
    Trainer trainer("ials_pp_cpu", changes, train, 2);
    Matrix x = rows_of(trainer.initial.p, 14);
    Matrix y = rows_of(trainer.initial.q, 9);
    test::newton_epoch(Dense(train, trainer.loss), block, x, y);
    trainer.run(1);
    const Model model = trainer.model();
    EXPECT_LT((rows_of(model.p, 14) - x).cwiseAbs().maxCoeff(), 1e-3) << changes;
    EXPECT_LT((rows_of(model.q, 9) - y).cwiseAbs().maxCoeff(), 1e-3) << changes;
    EXPECT_GT(x.cwiseAbs().maxCoeff(), 0.01);
  }
}

TEST(IalsPpCpu, NoEpochRaisesTheObjectiveAndItEndsWhereAlsDoes) {
  const Ratings train = clicks(kUsers, kItems, 0.15, 3);
  Trainer blocks("ials_pp_cpu", {{"factors", 48}, {"block_size", 16}, {"reg", 2}}, train, 2);
  Trainer exact("ials_cpu", {{"factors", 48}, {"solver", "cholesky"}, {"reg", 2}}, train);
  const Dense dense(train, blocks.loss);
  double last = test::objective(dense, blocks.initial);
  for (int epoch = 0; epoch < 40; ++epoch) {
    blocks.run(1);
    const double now = test::objective(dense, blocks.model());
    EXPECT_LE(now, last * (1 + 1e-6)) << epoch;
    last = now;
  }
  exact.run(40);
  const double of_exact = test::objective(dense, exact.model());
  EXPECT_NEAR(last, of_exact, 0.01 * of_exact);
}

// Item 2 has so many pairs that several threads share it.
TEST(IalsPpCpu, ThreadsDoNotChangeABit) {
  constexpr std::int32_t kMany = 30000;
  const Ratings train = clicks(kMany, 12, 0.05, 4);
  const Json changes = {{"factors", 40}, {"block_size", 16}, {"reg", 10}};
  Trainer one("ials_pp_cpu", changes, train, 1);
  one.run(2);
  const Model expected = one.model();
  for (const int threads : {2, 5}) {
    Trainer more("ials_pp_cpu", changes, train, threads);
    more.run(2);
    SCOPED_TRACE(threads);
    mf::test::expect_same(more.model(), expected);
  }
}

TEST(IalsPpCpu, RowsWithoutPairsAreZero) {
  const Ratings train = mf::test::ratings_of(3, 3, {{0, 0, 2}, {0, 2, 1}, {2, 2, 3}, {2, 1, 0}});
  Trainer trainer("ials_pp_cpu", {{"factors", 20}, {"block_size", 16}}, train);
  trainer.run(2);
  EXPECT_EQ(trainer.updates, 2 * 2 * 3);
  const Model model = trainer.model();
  for (int k = 0; k < 20; ++k) {
    EXPECT_EQ(model.p[20 + k], 0);
    EXPECT_EQ(model.q[20 + k], 0);
  }
}

TEST(IalsPpParams, BlocksBeginOnCacheLines) {
  const AlgorithmInfo& info = find_algorithm("ials_pp_cpu");
  const auto why = [&](int factors, int block) {
    return info.supports(default_params(info.params, {{"factors", factors}, {"block_size", block}}),
                         {10, 10, 50});
  };
  EXPECT_FALSE(why(128, 64));
  EXPECT_FALSE(why(20, 50));  // one block
  EXPECT_HAS(why(128, 50).value_or(""), "48 or 64");
  const Params params = default_params(info.params, {{"factors", 20}});
  EXPECT_EQ(read_block_size(params), 20);
  EXPECT_EQ(read_block_size(default_params(info.params)), 64);
}

TEST(IalsPpWork, CountsWhatTheReadmeDerives) {
  const Common common = {40, {1, 0.1, 0}, {0, 0}};
  const Work work = pp_work(common, 32, 3, 4);  // blocks of 32 and 8
  EXPECT_EQ(work.updates, 6);
  EXPECT_DOUBLE_EQ(work.bytes, 6 * 8 + 4 * (8 + 3 * 160));
  const double pair = 4 * 40 + 2 * 40 + 32 * 33 + 8 * 9;
  const double row = 40 * 41 + 2 * 40 * 40 + 32 * 33 / 2.0 + 8 * 9 / 2.0 + 40 +
                     (32.0 * 32 * 32 + 8 * 8 * 8) / 3 + 2 * (32 * 32 + 8 * 8);
  EXPECT_NEAR(work.flops, 6 * pair + 4 * row, 1e-6);
}

}  // namespace
}  // namespace mf::ials
