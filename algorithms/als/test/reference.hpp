// ALS in double precision, written only from the equations, and small matrices to run it on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "algorithms/als/settings.hpp"
#include "algorithms/als/sides.hpp"
#include "algorithms/als/test/objective.hpp"
#include "algorithms/core/model.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "datasets/ratings/ratings.hpp"
#include "testing/models.hpp"
#include "testing/triples.hpp"

namespace mf::als::test {

// A_u x_u = b_u of one row; A is dense and symmetric, element (i, j) at a[i * f + j].
struct System {
  std::int64_t f = 0;
  std::vector<double> a, b;
};

// `other` has the factors of the other side, `stride` floats from one row to the next.
inline System normal_equations(const Side& side, std::int64_t row, const float* other,
                               std::int64_t stride, std::int32_t factors, RowReg reg) {
  System s;
  s.f = factors;
  s.a.assign(s.f * s.f, 0.0);
  s.b.assign(s.f, 0.0);
  for (std::int64_t k = side.offsets[row]; k < side.offsets[row + 1]; ++k) {
    const float* theta = other + side.others[k] * stride;
    for (std::int64_t i = 0; i < s.f; ++i) {
      const double element = theta[i];
      for (std::int64_t j = 0; j <= i; ++j) s.a[i * s.f + j] += element * theta[j];
      s.b[i] += static_cast<double>(side.values[k]) * element;
    }
  }
  // Written once more, from the definition.
  const auto n = static_cast<double>(side.length(row));
  const double weight = n > 0 ? reg.reg * std::exp(reg.power * std::log(n)) : 0;
  for (std::int64_t i = 0; i < s.f; ++i) {
    s.a[i * s.f + i] += weight;
    for (std::int64_t j = 0; j < i; ++j) s.a[j * s.f + i] = s.a[i * s.f + j];
  }
  return s;
}

// By Cholesky: A = L L^T, L z = b, L^T x = z.
inline std::vector<double> solve(const System& s) {
  const std::int64_t f = s.f;
  std::vector<double> l = s.a;
  std::vector<double> x = s.b;
  for (std::int64_t j = 0; j < f; ++j) {
    for (std::int64_t i = j; i < f; ++i) {
      double sum = l[i * f + j];
      for (std::int64_t k = 0; k < j; ++k) sum -= l[i * f + k] * l[j * f + k];
      if (i == j && !(sum > 0)) throw std::runtime_error("the system is not positive definite");
      l[i * f + j] = i == j ? std::sqrt(sum) : sum / l[j * f + j];
    }
  }
  for (std::int64_t i = 0; i < f; ++i) {
    for (std::int64_t k = 0; k < i; ++k) x[i] -= l[i * f + k] * x[k];
    x[i] /= l[i * f + i];
  }
  for (std::int64_t i = f; i-- > 0;) {
    for (std::int64_t k = i + 1; k < f; ++k) x[i] -= l[k * f + i] * x[k];
    x[i] /= l[i * f + i];
  }
  return x;
}

// |A x - b| / |b|: a check without f^3 operations.
template <class T>
double residual(const System& s, const T* x) {
  double squares = 0;
  double norm = 0;
  for (std::int64_t i = 0; i < s.f; ++i) {
    double rest = -s.b[i];
    for (std::int64_t j = 0; j < s.f; ++j) rest += s.a[i * s.f + j] * x[j];
    squares += rest * rest;
    norm += s.b[i] * s.b[i];
  }
  const double relative = std::sqrt(squares / norm);
  return std::isnan(relative) ? HUGE_VAL : relative;
}

using mf::test::normals;
using mf::test::ratings_of;

// With noise of standard deviation 0.05.
inline Ratings planted(std::int32_t users, std::int32_t items, double density, std::uint64_t seed) {
  return mf::test::planted(users, items, density, seed, 0.8, 0.05);
}

// For a host view.
inline double rmse(const FactorView& view, const Ratings& ratings) {
  return mf::test::rmse(copy_model(view), ratings);
}

// The paper's settings (the defaults of `als`) with these changes.
inline Json papers(const Json& changes) {
  Json all = {{"center", "none"}, {"reg", 0.05}, {"reg_power", 1}};
  all.update(changes);
  return all;
}

// The default parameters of `als` with these changes.
inline Common common_of(std::int32_t factors, double reg) {
  Common common = read_common(default_params(common_params()));
  common.factors = factors;
  common.reg = reg;
  return common;
}

// Both sides of R itself.
inline Sides plain_sides(const Ratings& train, ThreadTeam& team) {
  return Sides(train, CenterKind::none, {}, team);
}

// Rows (x, b, 1) and (theta, 1, c). Their products are the model's predictions less its mean.
inline Model with_bias_columns(const Model& model) {
  Model wide = model;
  wide.factors = model.factors + 2;
  const auto widen = [&](const AlignedVector<float>& rows, const AlignedVector<float>& biases,
                         bool users) {
    AlignedVector<float> all;
    for (std::int64_t row = 0; row < std::ssize(biases); ++row) {
      const auto first = rows.begin() + row * model.factors;
      all.insert(all.end(), first, first + model.factors);
      all.push_back(users ? biases[row] : 1);
      all.push_back(users ? 1 : biases[row]);
    }
    return all;
  };
  wide.p = widen(model.p, model.user_bias, true);
  wide.q = widen(model.q, model.item_bias, false);
  return wide;
}

// Objective (1) of a host model after its center is removed. If biases are solved for: objective
// (3), plus a constant for the columns of ones.
inline double objective_of(const Ratings& train, const Common& common, const Model& model) {
  ThreadTeam team(1);
  const Sides sides(train, common.center, row_reg_of(common), team);
  const Model wide = common.solves_biases() ? with_bias_columns(model) : model;
  return objective(sides.users(), sides.items(), wide.view(), row_reg_of(common), team);
}

}  // namespace mf::als::test
