#include "algorithms/bpmf/prior.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <numeric>

namespace mf::bpmf {

RowPrior::RowPrior(const Hyper& hyper) : size(hyper.mean.size()) {
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::int64_t j = 0; j < size; ++j) {
      precision.push_back(static_cast<float>(hyper.precision(i, j)));
    }
  }
  const Eigen::VectorXd product = hyper.precision * hyper.mean;
  for (std::int64_t i = 0; i < size; ++i) shift.push_back(static_cast<float>(product(i)));
}

double draw_gamma(double shape, Rng& rng) {
  if (shape < 1) {
    const double larger = draw_gamma(shape + 1, rng);
    return larger * std::pow(1 - rng.uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = rng.normal();
    const double root = 1 + c * x;
    const double u = 1 - rng.uniform();
    const double v = root * root * root;
    if (v > 0 && std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

Eigen::MatrixXd draw_bartlett(std::int64_t size, double nu, Rng& rng) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(size, size);
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::int64_t j = 0; j < i; ++j) a(i, j) = rng.normal();
    a(i, i) = std::sqrt(2 * draw_gamma((nu - static_cast<double>(i)) / 2, rng));
  }
  return a;
}

// With M = C C^T the matrix T = C^-T A has T T^T = Lambda, and T^-T z = C A^-T z the covariance
// Lambda^-1.
Hyper draw_hyper(double beta0, double nu0, const Moments& rows, Rng& rng) {
  const std::int64_t size = rows.sum.size();
  const double beta = beta0 + rows.count;
  const Eigen::MatrixXd m =
      Eigen::MatrixXd::Identity(size, size) + rows.square - rows.sum * rows.sum.transpose() / beta;
  const Eigen::MatrixXd c = m.llt().matrixL();
  const Eigen::MatrixXd a = draw_bartlett(size, nu0 + rows.count, rng);
  const Eigen::MatrixXd t = c.transpose().triangularView<Eigen::Upper>().solve(a);
  Eigen::VectorXd z(size);
  for (std::int64_t i = 0; i < size; ++i) z(i) = rng.normal();
  z = a.transpose().triangularView<Eigen::Upper>().solve(z).eval();
  return {rows.sum / beta + c * z / std::sqrt(beta), t * t.transpose()};
}

double sum_of_squares(View<const float> values, double mean, ThreadTeam& team) {
  constexpr std::int64_t kChunk = 1 << 16;
  std::vector<double> sums((values.size() + kChunk - 1) / kChunk);
  team.for_chunks(values.size(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    double& sum = sums[begin / kChunk];
    for (std::int64_t i = begin; i < end; ++i) sum += (values[i] - mean) * (values[i] - mean);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

double draw_alpha(double squared_errors, double ratings, Rng& rng) {
  return draw_gamma((1 + ratings) / 2, rng) / ((1 + squared_errors) / 2);
}

}  // namespace mf::bpmf
