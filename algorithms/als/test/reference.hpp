// ALS in double precision, written from the equations alone, and small matrices to run it on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "algorithms/als/objective.hpp"
#include "algorithms/als/settings.hpp"
#include "algorithms/als/sides.hpp"
#include "algorithms/core/model.hpp"
#include "base/rng.hpp"
#include "datasets/ratings/ratings.hpp"
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

using mf::test::normals;
using mf::test::ratings_of;

// A planted model of rank 3 around 3.5, with noise of standard deviation 0.05; every pair with
// probability `density`, but user 1 and item 2 rate and are rated fully (long rows), while user 0
// and item 1 have no ratings.
inline Ratings planted(std::int32_t users, std::int32_t items, double density, std::uint64_t seed) {
  Rng rng(seed);
  const auto p = normals(rng, users * 3, 0.8);
  const auto q = normals(rng, items * 3, 0.8);
  std::vector<Rating> list;
  for (std::int32_t u = 1; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      if (i == 1) continue;
      if (u != 1 && i != 2 && rng.uniform() >= density) continue;
      double value = 3.5 + 0.05 * rng.normal();
      for (std::int64_t k = 0; k < 3; ++k) value += p[u * 3 + k] * q[i * 3 + k];
      list.push_back({u, i, static_cast<float>(value)});
    }
  }
  return ratings_of(users, items, list);
}

// Root of the mean squared error of a host view.
inline double rmse(const FactorView& view, const Ratings& ratings) {
  double sum = 0;
  for (std::int64_t k = 0; k < ratings.nnz(); ++k) {
    const Rating r = ratings[k];
    double error = static_cast<double>(r.value) - view.mean;
    if (view.user_bias != nullptr) error -= view.user_bias[r.user * view.user_bias_stride];
    if (view.item_bias != nullptr) error -= view.item_bias[r.item * view.item_bias_stride];
    for (std::int32_t i = 0; i < view.factors; ++i) {
      error -= static_cast<double>(view.p[r.user * view.p_stride + i]) *
               view.q[r.item * view.q_stride + i];
    }
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(ratings.nnz()));
}

// What the parameters say by default, but for these.
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

// Objective (1) of a host model, its center removed first.
inline double objective_of(const Ratings& train, const Common& common, const Model& model) {
  ThreadTeam team(1);
  const Sides sides(train, common.center, row_reg_of(common), team);
  return objective(sides.users(), sides.items(), model.view(), row_reg_of(common), team);
}

}  // namespace mf::als::test
