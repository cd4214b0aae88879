// CG in the space of a row's pairs against CG on the row's system.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "algorithms/als/fused/applied/dual_cg.hpp"
#include "algorithms/als/test/dense_cg.hpp"
#include "base/rng.hpp"

namespace mf::als {
namespace {

// Empty: zeros.
template <class T>
struct PairNumbers {
  std::vector<T> e;
};
template <class T>
void add(PairNumbers<T>& y, T a, const PairNumbers<T>& x) {
  y.e.resize(std::max(y.e.size(), x.e.size()), T(0));
  for (std::size_t i = 0; i < x.e.size(); ++i) y.e[i] += a * x.e[i];
}
template <class T>
void scale(PairNumbers<T>& y, T a) {
  for (T& x : y.e) x *= a;
}
template <class T>
T inner(const std::vector<T>& a, const std::vector<T>& b) {
  return cg_dot(a.data(), b.data(), std::ssize(a));
}

// The nearest number of fp16, times `unit`.
float to_half(float x, float unit) {
  int exponent = 0;
  std::frexp(x / unit, &exponent);
  const int last = std::max(exponent, -13) - 11;
  return unit * std::ldexp(std::nearbyint(std::ldexp(x / unit, -last)), last);
}
// The part of an element that two such words keep, for a vector scaled to a norm near 1.
float to_halves(float x, float norm) {
  const float high = to_half(x, norm);
  return high + to_half(x - high, norm);
}

struct Row {
  std::vector<std::vector<double>> theta;  // of a pair
  std::vector<double> v, t;
  std::vector<double> start;
  double shrink = 0;

  std::int64_t factors() const { return std::ssize(start); }
  std::int64_t pairs() const { return std::ssize(theta); }
};

// Ratings as of rank 1 and noise. `weighted`: V is not I. `warm`: the start is near the solution.
struct RowKind {
  std::int64_t factors, pairs;
  double reg;
  bool weighted, warm;
};

std::vector<double> cg_of(const Row& row, const CgRule& rule) {
  const std::int64_t f = row.factors();
  std::vector<double> a(f * f, 0.0), b(f, 0.0);
  for (std::int64_t k = 0; k < row.pairs(); ++k) {
    for (std::int64_t i = 0; i < f; ++i) {
      b[i] += row.t[k] * row.theta[k][i];
      for (std::int64_t j = 0; j < f; ++j)
        a[i * f + j] += row.v[k] * row.theta[k][i] * row.theta[k][j];
    }
  }
  for (std::int64_t i = 0; i < f; ++i) a[i * f + i] += row.shrink;
  std::vector<double> x = row.start;
  test::cg_solve(a.data(), f, b.data(), x.data(), rule);
  return x;
}

Row make_row(const RowKind& kind, Rng& rng) {
  Row row;
  row.shrink = kind.reg * static_cast<double>(kind.pairs);
  const double size = 1.5 / std::sqrt(static_cast<double>(kind.factors));
  std::vector<double> taste(kind.factors);
  for (double& x : taste) x = size * rng.normal();
  row.start.resize(kind.factors);
  for (double& x : row.start) x = size * rng.normal();
  for (std::int64_t k = 0; k < kind.pairs; ++k) {
    std::vector<double> theta(kind.factors);
    for (double& x : theta) x = to_half(static_cast<float>(0.3 * rng.normal()), 1);
    theta[0] += 0.5;
    row.v.push_back(kind.weighted ? 32 * rng.uniform() : 1.0);
    row.t.push_back(row.v.back() * (inner(theta, taste) + 0.05 * rng.normal()));
    row.theta.push_back(std::move(theta));
  }
  if (kind.warm) {
    row.start = cg_of(row, {200, 0});
    for (double& x : row.start) x += 0.02 * size * rng.normal();
  }
  return row;
}

// T double: K as it is. float: as fp16 words, and vectors as two, as dual.cu has them.
template <class T>
class HostSpace {
 public:
  using Number = T;
  using Vector = PairNumbers<T>;
  static constexpr T kLeastInverted = std::numeric_limits<T>::min();

  explicit HostSpace(const Row& row) : n_(row.pairs()), v_(row.v.begin(), row.v.end()) {
    T largest = 0;
    for (const auto& a : row.theta) {
      for (const auto& b : row.theta) k_.push_back(static_cast<T>(inner(a, b)));
      largest = std::max(largest, static_cast<T>(inner(a, a)));
    }
    const T most_v = *std::max_element(v_.begin(), v_.end());
    most = largest * static_cast<T>(n_) * most_v * most_v;
    if constexpr (std::is_same_v<T, float>) {
      const float unit = std::exp2(std::floor(std::log2(largest)) - 14);
      for (float& x : k_) x = to_half(x, unit);
    }
  }

  T most = 0;

  Vector weigh(const Vector& g) const {
    Vector w = g;
    for (std::int64_t i = 0; i < n_; ++i) w.e[i] *= v_[i];
    return w;
  }
  Vector product(Vector w, T ww) const {
    if constexpr (std::is_same_v<T, float>) {
      const float norm = std::exp2(std::round(std::log2(ww) / 2));
      for (float& x : w.e) {
        EXPECT_FALSE(std::abs(x) > 1000 * norm) << "fp16 ends at 65504";
        x = to_halves(x, norm);
      }
    }
    Vector h;
    for (std::int64_t i = 0; i < n_; ++i) h.e.push_back(cg_dot(k_.data() + i * n_, w.e.data(), n_));
    return h;
  }
  T sum(const Vector& x, const Vector& y) const { return inner(x.e, y.e); }
  struct Four {
    T x, y, z, w;
  };
  Four sums(const Vector& w, const Vector& p, const Vector& r, const Vector& h,
            const Vector& u) const {
    return {sum(w, p), sum(w, r), sum(w, h), sum(w, u)};
  }
  static T inverse(T x) { return 1 / x; }

 private:
  std::int64_t n_;
  std::vector<T> k_, v_;
};

std::vector<double> times_theta(const Row& row, const std::vector<double>& x) {
  std::vector<double> y;
  for (const auto& theta : row.theta) y.push_back(inner(theta, x));
  return y;
}
std::vector<double> times_transposed(const Row& row, const std::vector<double>& a) {
  std::vector<double> x(row.factors(), 0.0);
  for (std::int64_t k = 0; k < row.pairs(); ++k) {
    for (std::int64_t i = 0; i < row.factors(); ++i) x[i] += a[k] * row.theta[k][i];
  }
  return x;
}

// The solution by dual_cg.hpp. The products of dual.cu with Theta are exact here.
template <class T>
std::vector<double> dual_of(const Row& row, const CgRule& rule) {
  const auto pairs_of = [](const std::vector<double>& y) {
    return PairNumbers<T>{std::vector<T>(y.begin(), y.end())};
  };
  const std::vector<double> g = times_theta(row, row.start);
  std::vector<double> s;
  for (std::int64_t k = 0; k < row.pairs(); ++k) s.push_back(row.t[k] - row.v[k] * g[k]);
  std::vector<double> r = times_transposed(row, s);
  for (std::int64_t i = 0; i < row.factors(); ++i) r[i] -= row.shrink * row.start[i];
  HostSpace<T> space(row);
  const DualStart<HostSpace<T>> start = {pairs_of(s), pairs_of(g), pairs_of(times_theta(row, r)),
                                         static_cast<T>(inner(r, r))};
  const auto found = solve_dual(
      space, start, {static_cast<T>(row.shrink), rule.steps, static_cast<T>(rule.tolerance)});
  std::vector<double> a(found.a.e.begin(), found.a.e.end());
  a.resize(row.pairs(), 0.0);
  std::vector<double> x = times_transposed(row, a);
  for (std::int64_t i = 0; i < row.factors(); ++i) x[i] += row.start[i] + found.b * r[i];
  return x;
}

// |x - y| / |y|
double difference(const std::vector<double>& x, const std::vector<double>& y) {
  double gap = 0;
  for (std::size_t i = 0; i < x.size(); ++i) gap += (x[i] - y[i]) * (x[i] - y[i]);
  return std::sqrt(gap / inner(y, y));
}

TEST(DualCg, StepsAreThoseOfTheRowsSystem) {
  Rng rng(11);
  for (const std::int64_t pairs : {1, 2, 5, 17, 64}) {
    for (const bool weighted : {false, true}) {
      for (const bool warm : {false, true}) {
        const Row row = make_row({40, pairs, 0.05, weighted, warm}, rng);
        for (const int steps : {1, 2, 3, 6}) {
          EXPECT_LT(difference(dual_of<double>(row, {steps, 0}), cg_of(row, {steps, 0})), 1e-6)
              << pairs << " pairs, " << steps << " steps, " << weighted << warm;
        }
      }
    }
  }
}

TEST(DualCg, EndsAtTheToleranceAsTheRowsSystemDoes) {
  Rng rng(12);
  for (const double tolerance : {3.0, 0.3, 0.03}) {
    const Row row = make_row({40, 30, 0.05, false, false}, rng);
    const std::vector<double> x = dual_of<double>(row, {30, tolerance});
    EXPECT_LT(difference(x, cg_of(row, {30, tolerance})), 1e-9) << tolerance;
    EXPECT_GT(difference(x, cg_of(row, {30, 0})), 1e-6) << tolerance;
  }
}

// At every length of a row, and after the last direction that it has. CG on A in fp16 leaves 1e-3
// here.
TEST(DualCg, RoundingKHardlyChangesTheSolution) {
  Rng rng(13);
  for (const std::int64_t factors : {64, 128}) {
    for (const double reg : {0.05, 0.5}) {
      for (const bool weighted : {false, true}) {
        for (const bool warm : {false, true}) {
          for (const std::int64_t pairs : {1, 2, 3, 4, 6, 8, 16, 33, 64}) {
            const Row row =
                make_row({factors, pairs, weighted ? 32 * reg : reg, weighted, warm}, rng);
            for (const int steps : {3, 6, 20}) {
              EXPECT_LT(difference(dual_of<float>(row, {steps, 0}), cg_of(row, {steps, 0})), 2e-3)
                  << factors << " factors, " << pairs << " pairs, reg " << reg << ", " << steps
                  << " steps" << (weighted ? ", weighted" : "") << (warm ? ", warm" : "");
            }
          }
        }
      }
    }
  }
}

TEST(DualCg, WhatIsNotANumberGoesOn) {
  Rng rng(14);
  Row row = make_row({8, 3, 0.05, false, false}, rng);
  row.t[1] = std::numeric_limits<double>::quiet_NaN();
  for (const double x : dual_of<float>(row, {3, 0})) EXPECT_TRUE(std::isnan(x));
}

TEST(DualCg, AZeroResidualChangesNothing) {
  Rng rng(15);
  Row row = make_row({8, 3, 0.05, false, false}, rng);
  row.t.assign(3, 0.0);
  row.start.assign(8, 0.0);
  EXPECT_EQ(dual_of<float>(row, {6, 0}), row.start);
}

}  // namespace
}  // namespace mf::als
