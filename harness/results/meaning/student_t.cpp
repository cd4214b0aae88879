#include "harness/results/meaning/student_t.hpp"

#include <cmath>
#include <initializer_list>
#include <numbers>

namespace mf {
namespace {

// The continued fraction of the incomplete beta function (DLMF 8.17.22) by Lentz's method; it
// converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;  // instead of a zero that would be divided by
  const auto nonzero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / nonzero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 / nonzero(1 + term * d);
      c = nonzero(1 + term / c);
      step = c * d;
      fraction *= step;
    }
    if (std::abs(step - 1) < 1e-15) break;
  }
  return fraction;
}

// I_x(a, b), the regularized incomplete beta function.
double beta_share(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_share(b, a, 1 - x);
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(log_front) * beta_fraction(a, b, x) / a;
}

double density(double t, double freedom) {
  const double log_front = std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2) -
                           0.5 * std::log(freedom * std::numbers::pi);
  return std::exp(log_front - (freedom + 1) / 2 * std::log1p(t * t / freedom));
}

}  // namespace

double student_t_tails(double t, double freedom) {
  return beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_t_limit(double tails, double freedom) {
  // The tails are a convex function that falls, so Newton's steps from 0 never go too far.
  double t = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double step = (student_t_tails(t, freedom) - tails) / (2 * density(t, freedom));
    t += step;
    if (std::abs(step) <= 1e-14 * t) break;
  }
  return t;
}

}  // namespace mf
