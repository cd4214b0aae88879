// The rule against the derivative of its loss: for one rating,
//   loss = (e^2 + reg_p |p|^2 + reg_q |q|^2 + reg_b b^2 + reg_c c^2) / 2.
#include "algorithms/core/sgd/sgd_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "algorithms/core/sgd/sgd_params.hpp"
#include "base/rng.hpp"
#include "testing/triples.hpp"

namespace mf::sgd {
namespace {

constexpr std::int32_t kFactors = 7;

struct Point {
  std::vector<double> p, q;
  double user_bias = 0, item_bias = 0;
};

Point random_point() {
  Rng rng(5);
  Point point;
  for (int k = 0; k < kFactors; ++k) {
    point.p.push_back(rng.normal());
    point.q.push_back(rng.normal());
  }
  point.user_bias = rng.normal();
  point.item_bias = rng.normal();
  return point;
}

double loss(const Point& at, const Regularizers& reg, double rating, double mean) {
  double dot = 0, p_norm = 0, q_norm = 0;
  for (std::int32_t k = 0; k < kFactors; ++k) {
    dot += at.p[k] * at.q[k];
    p_norm += at.p[k] * at.p[k];
    q_norm += at.q[k] * at.q[k];
  }
  const double error = rating - mean - at.user_bias - at.item_bias - dot;
  return (error * error + reg.p * p_norm + reg.q * q_norm +
          reg.user_bias * at.user_bias * at.user_bias +
          reg.item_bias * at.item_bias * at.item_bias) /
         2;
}

// An update moves a parameter by -rate times the central difference of the loss.
template <class Of>
void expect_descent(const Point& before, const Point& after, double rate, const Regularizers& reg,
                    double rating, double mean, Of&& of) {
  Point at = before;
  double& number = of(at);
  constexpr double kStep = 1e-5;
  const double here = number;
  number = here + kStep;
  const double above = loss(at, reg, rating, mean);
  number = here - kStep;
  const double below = loss(at, reg, rating, mean);
  Point moved = after;
  EXPECT_NEAR(of(moved) - here, -rate * (above - below) / (2 * kStep), 1e-9);
}

TEST(SgdRule, AnUpdateGoesDownTheGradientOfTheRegularizedError) {
  const Regularizers reg{0.1, 0.2, 0.3, 0.4};
  const double rate = 0.01, rating = 4, mean = 3.5;
  const Point before = random_point();
  Point after = before;
  update(step_at<double>(rate, reg, mean), rating, after.p.data(), after.q.data(), kFactors,
         &after.user_bias, &after.item_bias);
  for (std::int32_t k = 0; k < kFactors; ++k) {
    expect_descent(before, after, rate, reg, rating, mean,
                   [k](Point& at) -> double& { return at.p[k]; });
    expect_descent(before, after, rate, reg, rating, mean,
                   [k](Point& at) -> double& { return at.q[k]; });
  }
  expect_descent(before, after, rate, reg, rating, mean,
                 [](Point& at) -> double& { return at.user_bias; });
  expect_descent(before, after, rate, reg, rating, mean,
                 [](Point& at) -> double& { return at.item_bias; });
}

TEST(SgdRule, ThePlainModelHasNeitherMeanNorBiases) {
  const Regularizers reg{0.1, 0.2, 0, 0};
  Point point = random_point();
  point.user_bias = point.item_bias = 0;
  const Point before = point;
  update(step_at<double>(0.01, reg, 3.5), 4.0, point.p.data(), point.q.data(), kFactors);
  for (std::int32_t k = 0; k < kFactors; ++k) {
    expect_descent(before, point, 0.01, reg, 4, 0, [k](Point& at) -> double& { return at.p[k]; });
    expect_descent(before, point, 0.01, reg, 4, 0, [k](Point& at) -> double& { return at.q[k]; });
  }
}

TEST(SgdRule, TheGradientIsWhatAStepAdds) {
  const double x = 0.7, y = -1.3, gain = 0.02, shrink = 0.001;
  EXPECT_NEAR(x + gradient(x, y, gain, shrink), stepped(x, y, gain, shrink), 1e-15);
  EXPECT_EQ(gradient(0.0, 1.0, gain, shrink), gain);
}

TEST(RatedShape, IsWhatTheContextKnowsOrIsCounted) {
  const Ratings train = test::ratings_of(3, 2, {{0, 0, 1}, {0, 1, 2}, {2, 0, 6}});
  EXPECT_EQ(rated_shape(train).rows, 4);
  EXPECT_EQ(rated_shape(train).nnz, 3);
  Context context;
  context.rated_rows = 17;
  EXPECT_EQ(rated_shape(train, context).rows, 17);
}

}  // namespace
}  // namespace mf::sgd
