// Implicit ALS in double precision only from equation (1): dense, over all pairs, no Gram trick.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "algorithms/core/implicit.hpp"
#include "algorithms/core/model.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::ials::test {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Confidences and preferences of all pairs, users x items; observed pairs of each row and column.
struct Dense {
  Dense(const Ratings& train, const ImplicitLoss& loss_of);
  double user_reg(std::int64_t u) const;
  double item_reg(std::int64_t i) const;
  double objective(const Matrix& x, const Matrix& y) const;
  Matrix solve_users(const Matrix& y) const;
  Matrix solve_items(const Matrix& x) const;
  // Rows without pairs become zero.
  void zero_empty_rows(Matrix& x, Matrix& y) const;

  ImplicitLoss loss;
  Matrix c, p;
};

// X and Y after an epoch of Newton steps, of every block in turn, over all pairs.
void newton_epoch(const Dense& dense, std::int64_t block_size, Matrix& x, Matrix& y);

Matrix rows_of(const AlignedVector<float>& packed, std::int64_t rows);

double objective(const Dense& dense, const Model& model);

// Every pair with probability `density`, of value 1 to 5; user 1 and item 2 have all pairs (long
// rows), user 0 and item 1 none.
Ratings clicks(std::int32_t users, std::int32_t items, double density, std::uint64_t seed);

// Every user with every item, all of value 1.
Ratings all_pairs(std::int32_t users, std::int32_t items);

}  // namespace mf::ials::test
