#include "algorithms/als/cg.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "algorithms/als/test/dense_cg.hpp"
#include "algorithms/als/test/reference.hpp"

namespace mf::als {
namespace {

// A = sum of `rank` outer products + shrink I.
test::System random_system(std::int64_t f, int rank, double shrink, std::uint64_t seed) {
  test::System s;
  s.f = f;
  s.a.assign(f * f, 0.0);
  s.b.assign(f, 0.0);
  Rng rng(seed);
  for (int k = 0; k < rank; ++k) {
    std::vector<double> theta(f);
    for (double& t : theta) t = rng.normal();
    for (std::int64_t i = 0; i < f; ++i) {
      for (std::int64_t j = 0; j < f; ++j) s.a[i * f + j] += theta[i] * theta[j];
      s.b[i] += theta[i] * rng.normal();
    }
  }
  for (std::int64_t i = 0; i < f; ++i) s.a[i * f + i] += shrink;
  return s;
}

double residual(const test::System& s, const std::vector<double>& x) {
  double sum = 0;
  for (std::int64_t i = 0; i < s.f; ++i) {
    double r = s.b[i];
    for (std::int64_t j = 0; j < s.f; ++j) r -= s.a[i * s.f + j] * x[j];
    sum += r * r;
  }
  return std::sqrt(sum);
}

int run(const test::System& s, std::vector<double>& x, const CgRule& rule) {
  return test::cg_solve(s.a.data(), s.f, s.b.data(), x.data(), rule);
}

TEST(Cg, AsManyStepsAsFactorsSolveExactly) {
  for (const std::int64_t f : {1, 2, 7, 13}) {
    const test::System s = random_system(f, 30, 2, static_cast<std::uint64_t>(f));
    std::vector<double> x(f, 0.3);
    run(s, x, {static_cast<int>(f), 0});
    const std::vector<double> exact = test::solve(s);
    for (std::int64_t i = 0; i < f; ++i) EXPECT_NEAR(x[i], exact[i], 1e-7) << f;
  }
}

// A run whose rows are NaN must end as diverged, not with its first rows.
TEST(Cg, WhatIsNotANumberGoesOn) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const test::System& s :
       {test::System{2, {4, 1, 1, 3}, {1, none}}, {2, {4, none, none, 3}, {1, 2}}}) {
    std::vector<double> x = {2, 1};
    run(s, x, {3, 0});
    EXPECT_TRUE(std::isnan(x[0]) && std::isnan(x[1]));
  }
}

// The square of the residual is 0 before it is itself: the next direction does not exist.
TEST(Cg, AResidualWhoseSquareVanishesEndsIt) {
  const std::vector<float> a = {4, 1, 1, 3}, b = {1e-30F, 2e-30F};
  std::vector<float> x = {0, 0};
  test::cg_solve(a.data(), 2, b.data(), x.data(), CgRule{5, 0});
  EXPECT_TRUE(std::isfinite(x[0]) && std::isfinite(x[1]));
}

// The first step from x, by hand: along the residual, to the minimum on that line. The printed
// line 5, r - alpha p, agrees with it; the second step does not.
TEST(Cg, TheFirstStepGoesDownTheResidual) {
  const test::System s = {2, {4, 1, 1, 3}, {1, 2}};
  std::vector<double> x = {2, 1};
  // r = b - A x = (-8, -3), r.r = 73, r.A r = 331
  EXPECT_EQ(run(s, x, {1, 0}), 1);
  EXPECT_NEAR(x[0], 2 - 8 * 73.0 / 331, 1e-12);
  EXPECT_NEAR(x[1], 1 - 3 * 73.0 / 331, 1e-12);
  std::vector<double> y = {2, 1};
  EXPECT_EQ(run(s, y, {2, 0}), 2);
  EXPECT_NEAR(y[0], 1.0 / 11, 1e-12);
  EXPECT_NEAR(y[1], 7.0 / 11, 1e-12);
}

TEST(Cg, EndsAtTheToleranceAndNotBefore) {
  const test::System s = random_system(20, 60, 5, 3);
  std::vector<double> zero(20, 0.0);
  std::vector<double> x = zero;
  const int steps = run(s, x, {1000, 1e-3});
  EXPECT_LT(residual(s, x), 1.1e-3);
  ASSERT_GT(steps, 2);
  ASSERT_LT(steps, 1000);
  std::vector<double> before = zero;
  EXPECT_EQ(run(s, before, {steps - 1, 1e-3}), steps - 1);
  EXPECT_GT(residual(s, before), 1e-3);
}

TEST(Cg, AZeroResidualGivesNoNan) {
  const test::System s = {2, {0, 0, 0, 0}, {0, 0}};
  std::vector<double> x = {0, 0};
  EXPECT_EQ(run(s, x, {6, 0}), 0);
  EXPECT_EQ(x, std::vector<double>({0, 0}));
  const test::System unit = {2, {1, 0, 0, 1}, {3, 4}};
  std::vector<double> solved = {3, 4};
  EXPECT_EQ(run(unit, solved, {6, 0}), 0);
  EXPECT_EQ(solved, std::vector<double>({3, 4}));
}

}  // namespace
}  // namespace mf::als
