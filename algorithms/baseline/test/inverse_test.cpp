#include "algorithms/baseline/inverse.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "base/rng.hpp"

namespace mf::baseline {
namespace {

using Matrix = Eigen::MatrixXd;

// Positive definite, its eigenvalues from `least` to some hundreds.
Matrix some_matrix(std::int64_t n, double least) {
  Rng rng(3);
  Matrix x(n / 2, n);
  for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = rng.normal();
  return x.transpose() * x + least * Matrix::Identity(n, n);
}

// Its lower triangle; NaN above the diagonal, which must not be read.
BlockMatrix blocks_of(const Matrix& from) {
  BlockMatrix to(from.rows());
  for (std::int64_t i = 0; i < to.stride(); ++i) {
    to.clear_row(i);
    if (i >= from.rows()) continue;
    for (std::int64_t j = 0; j < from.cols(); ++j) {
      to.row(i)[j] = j <= i ? static_cast<float>(from(i, j)) : std::nanf("");
    }
  }
  return to;
}

TEST(Sweep, LeavesMinusTheInverse) {
  for (const std::int64_t n : {1L, 5L, kBlock, kBlock + 1, 3 * kBlock - 7}) {
    const Matrix matrix = some_matrix(n, 2);
    BlockMatrix swept = blocks_of(matrix);
    ThreadTeam team(2);
    ASSERT_TRUE(sweep_all(swept, team));
    const Matrix inverse = matrix.inverse();
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        worst = std::max(worst, std::abs(static_cast<double>(swept.row(i)[j]) + inverse(i, j)));
      }
    }
    EXPECT_LT(worst, 4e-5) << n;  // fp32, by condition numbers up to 650
  }
}

TEST(Sweep, SaysWhereThereIsNoInverse) {
  Matrix matrix = some_matrix(30, 1);
  matrix(20, 20) = -1;
  BlockMatrix blocks = blocks_of(matrix);
  ThreadTeam team(1);
  EXPECT_FALSE(sweep_all(blocks, team));
}

TEST(Sweep, EndsWhereItIsStopped) {
  const Matrix matrix = some_matrix(3 * kBlock, 1);
  BlockMatrix blocks = blocks_of(matrix);
  ThreadTeam team(1);
  int asked = 0;
  EXPECT_TRUE(sweep_all(blocks, team, [&] { return ++asked == 2; }));
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace mf::baseline
