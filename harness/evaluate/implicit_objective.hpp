// The objective of implicit feedback (algorithms/core/implicit.hpp), exact and in double.
//
// The sum over all pairs is not walked: with s_ui = x_u . y_i and w = alpha r,
//
//   sum over all c_i s^2          = <X^T X, Y^T C Y>, the sum of the products of the Grams'
//   elements sum over the observed pairs   of (c_i + w)(1 - s)^2 - c_i s^2 sum of l_u |x_u|^2 and
//   of l_i |y_i|^2
//
// A pair with r = 0 is not observed. Rows without an observed pair count like the others: a user
// who was held out whole adds the model's scores.
//
// Work: (m + n) f^2 multiply-adds for the Grams, nnz f for the pairs. m = 138,000, n = 26,744,
// f = 128, nnz = 20 M: 5.3 G and 2.6 G.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/core/implicit.hpp"
#include "algorithms/core/model.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

// X^T X, or X^T diag(weights) X, of `count` rows of f numbers, `stride` apart, in double: f x f,
// row after row. The same for any number of threads.
std::vector<double> gram_of(const float* rows, std::int64_t count, std::int32_t f,
                            std::int64_t stride, ThreadTeam& team, View<const double> weights = {});

// <A, B>, in the order of the elements.
double product_of(View<const double> a, View<const double> b);

class ImplicitObjective {
 public:
  // `train` must live as long as this.
  ImplicitObjective(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team);

  // For a host view.
  double evaluate(const FactorView& model, ThreadTeam& team) const;

  // For P = Q = 0: the weight of the observed pairs.
  double of_zeros(ThreadTeam& team) const;

  const Ratings& train() const { return *train_; }
  const ImplicitLoss& loss() const { return loss_; }
  View<const double> user_reg() const { return user_reg_; }  // l of each row
  View<const double> item_reg() const { return item_reg_; }

 private:
  const Ratings* train_;
  ImplicitLoss loss_;
  double unobserved_of(std::int32_t item) const {
    return unobserved_.empty() ? 1 : unobserved_[item];
  }

  std::vector<double> user_reg_, item_reg_;
  std::vector<double> unobserved_;  // c_i; empty: 1
};

}  // namespace mf
