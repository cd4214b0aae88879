// The Normal-Wishart prior of one side's rows, and its draws given the rows (equations 12 to 14 of
// the paper), on the host in double:
//   x_u ~ N(mu, Lambda^-1),   mu ~ N(0, (beta0 Lambda)^-1),   Lambda ~ W(I, nu0)
// Given n rows with S = sum x x^T and s = sum x:
//   Lambda ~ W(M^-1, nu0 + n),  M = I + S - s s^T / (beta0 + n)
//   mu     ~ N(s / (beta0 + n), ((beta0 + n) Lambda)^-1)
// (M is the paper's W*^-1, its three terms joined.) And the precision of the ratings: with n
// ratings of squared errors e, alpha ~ Gamma((1 + n) / 2, rate (1 + e) / 2).
#pragma once

#include <Eigen/Core>
#include <vector>

#include "base/rng.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf::bpmf {

struct Moments {
  double count = 0;
  Eigen::VectorXd sum;
  Eigen::MatrixXd square;
};

struct Hyper {
  Eigen::VectorXd mean;
  Eigen::MatrixXd precision;
};

// As kernels take them: Lambda by rows, `size` x `size`, and Lambda mu.
struct RowPrior {
  explicit RowPrior(const Hyper& hyper);
  std::int64_t size;
  std::vector<float> precision, shift;
};

// Gamma(shape, 1), shape >= 1/2 (Marsaglia and Tsang 2000).
double draw_gamma(double shape, Rng& rng);
// A of Bartlett's decomposition: lower triangular, A A^T ~ W(I, nu); nu > size - 1.
Eigen::MatrixXd draw_bartlett(std::int64_t size, double nu, Rng& rng);
Hyper draw_hyper(double beta0, double nu0, const Moments& rows, Rng& rng);
// For numbers less `mean`: the same for any number of threads.
double sum_of_squares(View<const float> values, double mean, ThreadTeam& team);
double draw_alpha(double squared_errors, double ratings, Rng& rng);

}  // namespace mf::bpmf
