#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "algorithms/core/observed.hpp"
#include "algorithms/ials/settings.hpp"
#include "algorithms/ials/sides.hpp"
#include "algorithms/ials/test/reference.hpp"
#include "algorithms/ials/test/trainer.hpp"
#include "testing/models.hpp"
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

// After an epoch X solves its systems with the first Y, and Y its own with that X.
void expect_exact(const Json& changes, const Ratings& train, double tolerance) {
  Trainer trainer("ials_cpu", changes, train, 2);
  const Dense dense(train, trainer.loss);
  trainer.run(1);
  const Model model = trainer.model();
  const Matrix x = rows_of(model.p, kUsers);
  const Matrix y = rows_of(model.q, kItems);
  Matrix first = rows_of(trainer.initial.q, kItems);
  for (std::int64_t i = 0; i < kItems; ++i) {
    if (dense.p.col(i).sum() == 0) first.row(i).setZero();  // a row without pairs is zero
  }
  EXPECT_LT((x - dense.solve_users(first)).cwiseAbs().maxCoeff(), tolerance) << changes;
  EXPECT_LT((y - dense.solve_items(x)).cwiseAbs().maxCoeff(), tolerance) << changes;
  EXPECT_GT(x.cwiseAbs().maxCoeff(), 0.1);
  EXPECT_GT(y.cwiseAbs().maxCoeff(), 0.1);
}

TEST(IalsCpu, EverySolverSolvesEveryRow) {
  const Ratings train = clicks(kUsers, kItems, 0.2, 1);
  for (const int f : {1, 7, 16, 33, 50}) {
    expect_exact({{"factors", f}, {"solver", "cholesky"}, {"reg", 0.5}}, train, 2e-4);
  }
  for (const int f : {1, 7, 16, 33, 64, 100, 128, 130, 200}) {  // by many steps
    expect_exact({{"factors", f}, {"cg_steps", 4 * f + 40}, {"reg", 2}}, train, 1e-3);
  }
  for (const char* solver : {"cholesky", "cg"}) {
    for (const double alpha : {0.1, 10.0}) {
      Json loss = {{"alpha", alpha}, {"reg", 0.3}, {"reg_exponent", 0.5}};
      loss.update({{"factors", 20}, {"solver", solver}, {"cg_steps", 150}});
      expect_exact(loss, train, 2e-3);
      loss["popularity_exponent"] = 0.8;
      expect_exact(loss, train, 2e-3);
    }
  }
}

// For the last half-step: the residual of b over b, in the worst row of Y.
double residual(const Dense& dense, const Matrix& x, const Matrix& y) {
  double worst = 0;
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    if (dense.p.col(i).sum() == 0) continue;
    const test::Vector row = y.row(i).transpose();
    const test::Vector b = x.transpose() * dense.c.col(i).cwiseProduct(dense.p.col(i));
    const test::Vector ax =
        x.transpose() * dense.c.col(i).cwiseProduct(x * row) + dense.item_reg(i) * row;
    worst = std::max(worst, (b - ax).norm() / b.norm());
  }
  return worst;
}

TEST(IalsCpu, EverySolverSolvesLongRows) {
  const Ratings train = clicks(14, 9, 0.3, 9);
  for (const char* solver : {"cholesky", "cg"}) {
    for (const int f : {257, 1000, 1025, 2048}) {
      Trainer trainer("ials_cpu",
                      {{"factors", f}, {"solver", solver}, {"reg", 2}, {"cg_steps", 30}}, train, 2);
      trainer.run(1);
      const Model model = trainer.model();
      const Dense dense(train, trainer.loss);
      EXPECT_LT(residual(dense, rows_of(model.p, 14), rows_of(model.q, 9)), 1e-4)
          << solver << " " << f;
    }
  }
}

TEST(IalsCpu, NoEpochRaisesTheObjective) {
  const Ratings train = clicks(kUsers, kItems, 0.15, 4);
  for (const Json& changes : {Json{{"solver", "cholesky"}}, Json{{"solver", "cg"}},
                              Json{{"solver", "cg"}, {"popularity_exponent", 0.5}}}) {
    Trainer trainer("ials_cpu", changes, train, 2);
    const Dense dense(train, trainer.loss);
    const double first = test::objective(dense, trainer.initial);
    double last = first;
    for (int epoch = 0; epoch < 10; ++epoch) {
      trainer.run(1);
      const double now = test::objective(dense, trainer.model());
      EXPECT_LE(now, last * (1 + 1e-6)) << changes << " " << epoch;
      last = now;
    }
    EXPECT_LT(last, 0.5 * first);
  }
}

// An item without a pair counts as one with a pair.
TEST(UnobservedWeights, ArePowersOfThePairsAndOneOnAverage) {
  const std::vector<std::int64_t> pairs = {4, 0, 16, 1};
  EXPECT_TRUE(unobserved_weights(pairs, 0).empty());
  EXPECT_EQ(unobserved_weights(pairs, 0.5), (std::vector<double>{1, 0.5, 2, 0.5}));
}

// A run whose rows are NaN must end as diverged, not with its first rows.
TEST(IalsCpu, CgPassesOnWhatIsNoNumber) {
  const Ratings train = test::all_pairs(6, 5);
  Trainer trainer("ials_cpu", {{"factors", 9}}, train);
  trainer.initial.q[5] = std::numeric_limits<float>::quiet_NaN();
  trainer.algorithm =
      prepare_algorithm("ials_cpu", trainer.params, train, trainer.initial, trainer.context);
  trainer.run(1);
  const Model model = trainer.model();
  for (const float x : model.p) EXPECT_TRUE(std::isnan(x));
  for (const float y : model.q) EXPECT_TRUE(std::isnan(y));
}

// The square of a residual is 0 before it is itself: the next direction does not exist.
TEST(IalsCpu, AResidualWhoseSquareVanishesEndsCg) {
  const Ratings train = test::all_pairs(6, 5);
  Trainer trainer("ials_cpu", {{"factors", 9}, {"cg_steps", 5}}, train);
  for (float& x : trainer.initial.p) x = 0;
  for (float& y : trainer.initial.q) y *= 1e-25F;
  trainer.algorithm =
      prepare_algorithm("ials_cpu", trainer.params, train, trainer.initial, trainer.context);
  trainer.run(1);
  for (const float x : trainer.model().p) EXPECT_TRUE(std::isfinite(x));
}

TEST(IalsCpu, BothSolversEndAlike) {
  const Ratings train = clicks(kUsers, kItems, 0.15, 5);
  Trainer exact("ials_cpu", {{"factors", 16}, {"solver", "cholesky"}, {"reg", 1}}, train);
  Trainer cg("ials_cpu", {{"factors", 16}, {"solver", "cg"}, {"reg", 1}}, train);
  exact.run(40);
  cg.run(40);
  const Dense dense(train, exact.loss);
  const double of_exact = test::objective(dense, exact.model());
  EXPECT_NEAR(test::objective(dense, cg.model()), of_exact, 5e-3 * of_exact);
}

TEST(IalsCpu, RowsWithoutPairsAreZeroAndZerosAreNoPairs) {
  const Ratings some = mf::test::ratings_of(
      4, 4, {{0, 0, 2}, {0, 2, 1}, {1, 0, 0}, {1, 3, 1}, {2, 1, 0}, {3, 2, 3}, {3, 3, 0}});
  const Ratings same = mf::test::ratings_of(4, 4, {{0, 0, 2}, {0, 2, 1}, {1, 3, 1}, {3, 2, 3}});
  for (const char* solver : {"cholesky", "cg"}) {
    const Json changes = {{"factors", 3}, {"solver", solver}, {"alpha", 2}};
    Trainer with("ials_cpu", changes, some);
    Trainer without("ials_cpu", changes, same);
    with.run(3);
    without.run(3);
    EXPECT_EQ(with.updates, 3 * 2 * 4);
    const Model model = with.model();
    EXPECT_EQ(model.p, without.model().p);
    EXPECT_EQ(model.q, without.model().q);
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(model.p[2 * 3 + k], 0);  // user 2 has only a value of 0
      EXPECT_EQ(model.q[1 * 3 + k], 0);
    }
    EXPECT_NE(model.p[0], 0);
  }
}

constexpr std::int32_t kMany = 30000;

// 11 items of 18,000 and more pairs: the rows of one banded group, of more than one part.
TEST(IalsCpu, BandedRowsSolveTheirSystems) {
  const Ratings train = clicks(kMany, 12, 0.6, 6);
  Trainer trainer("ials_cpu", {{"factors", 40}, {"cg_steps", 120}, {"reg", 20}}, train);
  const Dense dense(train, trainer.loss);
  trainer.run(1);
  const Model model = trainer.model();
  const Matrix exact = dense.solve_items(rows_of(model.p, kMany));
  EXPECT_LT((rows_of(model.q, 12) - exact).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_GT(exact.cwiseAbs().maxCoeff(), 0.1);
}

// Items are banded rows of one thread or, of five, shared by all; of three only item 2 is.
TEST(IalsCpu, ThreadsDoNotChangeABit) {
  const Ratings train = clicks(kMany, 12, 0.6, 6);
  for (const char* solver : {"cholesky", "cg"}) {
    const Json changes = {{"factors", 40}, {"solver", solver}, {"reg", 10}};
    Trainer one("ials_cpu", changes, train, 1);
    one.run(1);
    const Model expected = one.model();
    EXPECT_GT(std::abs(expected.q[2 * 40]), 0);
    for (const int threads : {3, 5}) {
      Trainer more("ials_cpu", changes, train, threads);
      more.run(1);
      SCOPED_TRACE(testing::Message() << solver << " " << threads);
      mf::test::expect_same(more.model(), expected);
    }
  }
}

TEST(IalsCpu, EndsEarlyWhenAsked) {
  const Ratings train = clicks(kUsers, kItems, 0.2, 7);
  Trainer trainer("ials_cpu", Json::object(), train);
  trainer.context.stop_requested = [] { return true; };
  EXPECT_EQ(trainer.algorithm->run_epoch({1, 0}, trainer.context), 0);
}

TEST(IalsWork, CountsWhatTheReadmeDerives) {
  const Ratings train = mf::test::ratings_of(3, 2, {{0, 0, 1}, {0, 1, 2}, {2, 0, 6}});
  ThreadTeam team(1);
  const Common common = {4, {1, 0.1, 0}, {2, 0}};
  const Sides sides(train, common.loss, team);
  EXPECT_EQ(sides.filled_rows(), 4);
  const Work exact = iteration_work(common, Solver::cholesky, Normal::formed, 3, 4);
  EXPECT_EQ(exact.updates, 6);
  EXPECT_DOUBLE_EQ(exact.bytes, 6 * 8 + 4 * (8 + 2 * 16));
  EXPECT_DOUBLE_EQ(exact.flops, 6 * (20 + 8) + 4 * (20 + 10 + 4 + 64.0 / 3 + 32));
  const Work cg = iteration_work(common, Solver::cg, Normal::applied, 3, 4);
  EXPECT_DOUBLE_EQ(cg.bytes, 6 * 8 + 4 * (8 + 3 * 16));
  EXPECT_DOUBLE_EQ(cg.flops, 6 * 3 * 16 + 4 * (20 + 3 * 32 + 2 * 40));
  const Work formed = iteration_work(common, Solver::cg, Normal::formed, 3, 4);
  EXPECT_DOUBLE_EQ(formed.flops, 6 * (20 + 8) + 4 * (20 + 10 + 4 + 3 * 32 + 2 * 40));
}

}  // namespace
}  // namespace mf::ials
