// Implicit ALS in double precision from equation (1) alone: dense, over all pairs, no Gram trick.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "algorithms/core/implicit.hpp"
#include "algorithms/core/model.hpp"
#include "base/rng.hpp"
#include "datasets/ratings/ratings.hpp"
#include "testing/triples.hpp"

namespace mf::ials::test {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Confidences and preferences of all pairs, users x items; observed pairs of each row and column.
struct Dense {
  Dense(const Ratings& train, const ImplicitLoss& loss_of)
      : loss(loss_of),
        c(Matrix::Ones(train.n_users(), train.n_items())),
        p(Matrix::Zero(train.n_users(), train.n_items())) {
    for (std::int64_t k = 0; k < train.nnz(); ++k) {
      const Rating r = train[k];
      if (r.value == 0) continue;
      c(r.user, r.item) = 1 + loss.alpha * r.value;
      p(r.user, r.item) = 1;
    }
  }
  double user_reg(std::int64_t u) const {
    return loss.row_reg(static_cast<std::int64_t>(p.row(u).sum()), p.cols());
  }
  double item_reg(std::int64_t i) const {
    return loss.row_reg(static_cast<std::int64_t>(p.col(i).sum()), p.rows());
  }
  double objective(const Matrix& x, const Matrix& y) const {
    const Matrix error = p - x * y.transpose();
    double sum = (c.array() * error.array().square()).sum();
    for (std::int64_t u = 0; u < x.rows(); ++u) sum += user_reg(u) * x.row(u).squaredNorm();
    for (std::int64_t i = 0; i < y.rows(); ++i) sum += item_reg(i) * y.row(i).squaredNorm();
    return sum;
  }
  // The exact solution of one row, over all rows of the other side.
  static Vector solve(const Matrix& other, const Vector& weights, const Vector& wanted,
                      double reg) {
    const Matrix a = other.transpose() * weights.asDiagonal() * other +
                     reg * Matrix::Identity(other.cols(), other.cols());
    return a.llt().solve(other.transpose() * weights.cwiseProduct(wanted));
  }
  Matrix solve_users(const Matrix& y) const {
    Matrix x(c.rows(), y.cols());
    for (std::int64_t u = 0; u < c.rows(); ++u) {
      x.row(u) = solve(y, c.row(u).transpose(), p.row(u).transpose(), user_reg(u)).transpose();
    }
    return x;
  }
  Matrix solve_items(const Matrix& x) const {
    Matrix y(c.cols(), x.cols());
    for (std::int64_t i = 0; i < c.cols(); ++i) {
      y.row(i) = solve(x, c.col(i), p.col(i), item_reg(i)).transpose();
    }
    return y;
  }

  ImplicitLoss loss;
  Matrix c, p;
};

inline Matrix rows_of(const AlignedVector<float>& packed, std::int64_t rows) {
  const std::int64_t f = std::ssize(packed) / rows;
  Matrix m(rows, f);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < f; ++k) m(r, k) = packed[r * f + k];
  }
  return m;
}

inline double objective(const Dense& dense, const Model& model) {
  return dense.objective(rows_of(model.p, model.n_users), rows_of(model.q, model.n_items));
}

// Every pair with probability `density`, of value 1 to 5; user 1 and item 2 have all pairs (long
// rows), user 0 and item 1 none.
inline Ratings clicks(std::int32_t users, std::int32_t items, double density, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Rating> list;
  for (std::int32_t u = 1; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      const bool seen = rng.uniform() < density;
      const auto value = static_cast<float>(1 + static_cast<int>(5 * rng.uniform()));
      if (i != 1 && (seen || u == 1 || i == 2)) list.push_back({u, i, value});
    }
  }
  return mf::test::ratings_of(users, items, list);
}

}  // namespace mf::ials::test
