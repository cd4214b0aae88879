#include "harness/results/meaning/stats.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>

namespace mf {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

// Squared standard error of the mean.
double squared_error(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  const auto n = static_cast<double>(values.size());
  return sum / (n - 1) / n;
}

Estimate student(double value, double error, double freedom) {
  if (error == 0) return {value, {value, value}, value == 0 ? 1.0 : 0.0};
  const double reach = student_t_limit(1 - kLevel, freedom) * error;
  return {value, {value - reach, value + reach}, student_t_tails(std::abs(value) / error, freedom)};
}

// Twice the rank of each value among all, so that mean ranks are whole.
std::vector<int> doubled_ranks(const std::vector<double>& values) {
  std::vector<int> ranks;
  for (const double value : values) {
    const auto below =
        std::count_if(values.begin(), values.end(), [&](double v) { return v < value; });
    const auto equal = std::count(values.begin(), values.end(), value);
    ranks.push_back(static_cast<int>(2 * below + equal + 1));
  }
  return ranks;
}

// share[s]: of all ways to take `n` of the ranks, those whose sum is s.
std::vector<double> rank_sum_shares(const std::vector<int>& ranks, std::size_t n) {
  const auto total = static_cast<std::size_t>(std::accumulate(ranks.begin(), ranks.end(), 0));
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(total + 1, 0.0));
  ways[0][0] = 1;
  for (const int rank : ranks) {
    const auto step = static_cast<std::size_t>(rank);
    for (std::size_t taken = n; taken > 0; --taken) {
      for (std::size_t sum = total; sum >= step; --sum) {
        ways[taken][sum] += ways[taken - 1][sum - step];
      }
    }
  }
  const double all = std::accumulate(ways[n].begin(), ways[n].end(), 0.0);
  for (double& share : ways[n]) share /= all;
  return ways[n];
}

// Two-sided: as far from the middle as observed, or farther.
double rank_sum_p(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> values = a;
  values.insert(values.end(), b.begin(), b.end());
  const std::vector<int> ranks = doubled_ranks(values);
  const auto size = static_cast<std::ptrdiff_t>(a.size());
  const int seen = std::accumulate(ranks.begin(), ranks.begin() + size, 0);
  const double middle = static_cast<double>(a.size() * (values.size() + 1));
  const std::vector<double> shares = rank_sum_shares(ranks, a.size());
  double p = 0;
  for (std::size_t sum = 0; sum < shares.size(); ++sum) {
    const double away = std::abs(static_cast<double>(sum) - middle);
    if (away >= std::abs(seen - middle)) p += shares[sum];
  }
  return std::min(p, 1.0);
}

// How many of the smallest and of the largest differences lie outside of the interval; 0: even the
// outermost are needed, and more.
std::size_t differences_outside(std::size_t n, std::size_t m) {
  std::vector<int> ranks(n + m);
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int>(2 * i + 2);
  const std::vector<double> shares = rank_sum_shares(ranks, n);
  double tail = 0;
  std::size_t outside = 0;
  for (std::size_t sum = n * (n + 1); sum < shares.size(); sum += 2, ++outside) {
    tail += shares[sum];
    if (tail > (1 - kLevel) / 2) break;
  }
  return outside;
}

Interval interval_by_ranks(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> least;
  std::vector<double> most;  // if both are infinite, any difference may be
  for (const double x : a) {
    for (const double y : b) {
      const double difference = y - x;
      least.push_back(std::isnan(difference) ? -kInfinity : difference);
      most.push_back(std::isnan(difference) ? kInfinity : difference);
    }
  }
  const std::size_t outside = differences_outside(a.size(), b.size());
  if (outside == 0) return {-kInfinity, kInfinity};
  std::sort(least.begin(), least.end());
  std::sort(most.begin(), most.end());
  return {least[outside - 1], most[most.size() - outside]};
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

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Estimate mean_of(const std::vector<double>& values) {
  return student(mean(values), std::sqrt(squared_error(values)),
                 static_cast<double>(values.size()) - 1);
}

Estimate difference_of_means(const std::vector<double>& a, const std::vector<double>& b) {
  const double first = squared_error(a);
  const double second = squared_error(b);
  const double both = first + second;
  const double freedom = both * both /
                         (first * first / (static_cast<double>(a.size()) - 1) +
                          second * second / (static_cast<double>(b.size()) - 1));
  return student(mean(b) - mean(a), std::sqrt(both), freedom);
}

Estimate difference_by_ranks(const std::vector<double>& a, const std::vector<double>& b) {
  return {*median(b) - *median(a), interval_by_ranks(a, b), rank_sum_p(a, b)};
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return p[x] < p[y]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double own = p[order[i]] * static_cast<double>(p.size() - i);
    largest = std::min(1.0, std::max(largest, own));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace mf
