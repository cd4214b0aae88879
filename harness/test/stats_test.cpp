// Tests and intervals against tables, against counting by hand, and by how often they are right.
#include "harness/results/meaning/stats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/rng.hpp"

namespace mf {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(Median, OfOddEvenNoneAndInfinite) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_FALSE(median({}));
  EXPECT_EQ(median({kInfinite, 1, kInfinite}), kInfinite);
}

// Closed forms: Cauchy at one degree of freedom, t / sqrt(2 + t^2) at two.
TEST(StudentT, AgreesWithClosedForms) {
  for (const double t : {0.0, 0.1, 1.0, 3.0, 50.0}) {
    EXPECT_NEAR(student_t_tails(t, 1), 1 - 2 * std::atan(t) / std::acos(-1.0), 1e-12) << t;
    EXPECT_NEAR(student_t_tails(t, 2), 1 - t / std::sqrt(2 + t * t), 1e-12) << t;
  }
}

// Worked by hand: mean 2, standard error 1 / sqrt(3), two degrees of freedom.
TEST(MeanOf, ByHand) {
  const Estimate found = mean_of({1, 2, 3});
  EXPECT_DOUBLE_EQ(found.value, 2);
  EXPECT_NEAR(found.interval.low, 2 - 4.30265 / std::sqrt(3), 1e-4);
  EXPECT_NEAR(found.interval.high, 2 + 4.30265 / std::sqrt(3), 1e-4);
  const double t = 2 * std::sqrt(3);
  EXPECT_NEAR(found.p, 1 - t / std::sqrt(2 + t * t), 1e-9);
  EXPECT_EQ(mean_of({0, 0, 0}).p, 1) << "equal bits are no difference";
  EXPECT_EQ(mean_of({1, 1, 1}).p, 0);
}

// Variances 1 and 4, both of 3: freedom (5/3)^2 / ((1/3)^2/2 + (4/3)^2/2) = 50/17.
TEST(DifferenceOfMeans, ByHand) {
  const Estimate found = difference_of_means({1, 2, 3}, {2, 4, 6});
  EXPECT_DOUBLE_EQ(found.value, 2);
  const double error = std::sqrt(5.0 / 3);
  EXPECT_NEAR(found.interval.high, 2 + student_t_limit(0.05, 50.0 / 17) * error, 1e-9);
  EXPECT_NEAR(found.p, student_t_tails(2 / error, 50.0 / 17), 1e-12);
}

TEST(DifferenceByRanks, ByCounting) {
  // All of b above all of a: 2 of the 20 ways to share out six values are that far out.
  const Estimate apart = difference_by_ranks({1, 2, 3}, {4, 5, 6});
  EXPECT_EQ(apart.value, 3);
  EXPECT_NEAR(apart.p, 2.0 / 20, 1e-12);
  EXPECT_EQ(apart.interval.low, -kInfinite) << "three a side are too few for 95 %";
  // Five a side: 2 of 252; with U <= 2 (4 of 252 a side) outside, the third of the 25 differences.
  const Estimate five = difference_by_ranks({1, 2, 3, 4, 5}, {11, 12, 13, 14, 15});
  EXPECT_NEAR(five.p, 2.0 / 252, 1e-12);
  EXPECT_EQ(five.value, 10);
  EXPECT_EQ(five.interval.low, 7) << "6, 7, 7, ...";
  EXPECT_EQ(five.interval.high, 13);
}

TEST(DifferenceByRanks, TakesNeverForLaterThanAnyTime) {
  const Estimate misses =
      difference_by_ranks({1, 2, 3, 4, 5}, {kInfinite, kInfinite, kInfinite, kInfinite, kInfinite});
  EXPECT_NEAR(misses.p, 2.0 / 252, 1e-12);
  EXPECT_EQ(misses.value, kInfinite);
  EXPECT_EQ(misses.interval.low, kInfinite);
  const Estimate both = difference_by_ranks({1, kInfinite, kInfinite}, {1, kInfinite, kInfinite});
  EXPECT_TRUE(std::isnan(both.value));
  EXPECT_EQ(both.p, 1);
}

// The example of Holm's paper is by words; this is by its rule.
TEST(Holm, MultipliesTheSmallestMost) {
  const auto near = [](const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
  };
  near(holm({0.01, 0.04, 0.03}), {0.03, 0.06, 0.06});
  near(holm({0.5, 0.001}), {0.5, 0.002});
  near(holm({0.9, 0.8}), {1, 1});
  near(holm({}), {});
}

// ---- how often an interval of 95 % holds the truth
// -----------------------------------------------

using Draw = std::function<double(Rng&)>;

double normal(Rng& rng) { return rng.normal(); }
// Skewed: most runs alike, some late by much more.
double exponential(Rng& rng) { return -std::log(1 - rng.uniform()); }
// One run of ten meets something else on the machine.
double disturbed(Rng& rng) { return 0.1 * rng.normal() + (rng.uniform() < 0.1 ? 1.0 : 0.0); }

std::vector<double> sample(const Draw& draw, std::size_t n, Rng& rng) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(draw(rng));
  return values;
}

constexpr int kTrials = 5000;  // three standard errors of 95 % are 0.9 %

// Two sides that differ by nothing: how often the interval has 0 in it.
double coverage(std::size_t n, const Draw& a, const Draw& b,
                const std::function<Estimate(const std::vector<double>&,
                                             const std::vector<double>&)>& estimate) {
  Rng rng(20260101, n);
  int holds = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto first = sample(a, n, rng);
    const auto second = sample(b, n, rng);
    const Interval found = estimate(first, second).interval;
    holds += found.low <= 0 && found.high >= 0 ? 1 : 0;
  }
  return static_cast<double>(holds) / kTrials;
}

Estimate by_pairs(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(b[i] - a[i]);
  return mean_of(differences);
}

const struct {
  const char* name;
  Draw draw;
} kScatters[] = {{"normal", normal}, {"exponential", exponential}, {"disturbed", disturbed}};

TEST(Coverage, OfPairsOfRunsIsWhatItSays) {
  for (const auto& scatter : kScatters) {
    for (const std::size_t n : {3, 5, 10}) {
      EXPECT_GE(coverage(n, scatter.draw, scatter.draw, by_pairs), 0.93) << scatter.name << n;
    }
  }
  EXPECT_LE(coverage(5, normal, normal, by_pairs), 0.96) << "nor wider than need be";
}

TEST(Coverage, OfRunsWithoutPairsIsWhatItSays) {
  for (const auto& scatter : kScatters) {
    for (const std::size_t n : {3, 5, 10}) {
      EXPECT_GE(coverage(n, scatter.draw, scatter.draw, difference_of_means), 0.93)
          << scatter.name << n;
    }
  }
  const Draw wide = [](Rng& rng) { return 4 * rng.normal(); };
  EXPECT_GE(coverage(5, normal, wide, difference_of_means), 0.93) << "variances may differ";
}

TEST(Coverage, OfRanksIsAtLeastWhatItSays) {
  for (const auto& scatter : kScatters) {
    EXPECT_GE(coverage(5, scatter.draw, scatter.draw, difference_by_ranks), 0.95) << scatter.name;
  }
  // A third of the runs never get there, on either side.
  const Draw misses = [](Rng& rng) { return rng.uniform() < 1.0 / 3 ? kInfinite : rng.normal(); };
  EXPECT_GE(coverage(6, misses, misses, difference_by_ranks), 0.95);
}

// Over many comparisons of nothing, Holm's correction claims any difference in one of twenty at
// most.
TEST(Coverage, OfATableOfRowsIsWhatItSays) {
  Rng rng(7);
  int tables = 0;
  constexpr int kTables = 2000;
  for (int table = 0; table < kTables; ++table) {
    std::vector<double> p;
    for (int row = 0; row < 20; ++row) p.push_back(mean_of(sample(normal, 5, rng)).p);
    const auto adjusted = holm(p);
    tables += *std::min_element(adjusted.begin(), adjusted.end()) < 0.05 ? 1 : 0;
  }
  EXPECT_LE(tables, 0.065 * kTables);  // 5 % and three standard errors
}

}  // namespace
}  // namespace mf
