#include "algorithms/ials/test/reference.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <vector>

#include "base/rng.hpp"
#include "base/threads.hpp"
#include "testing/triples.hpp"

namespace mf::ials::test {
namespace {

// Solves rows exactly, over all rows Y of the other side. A row with weights W and wanted values p
// has the solution of (Y^T W Y + reg I) x = Y^T W p. If Y has fewer rows than columns, a smaller
// system gives the same x: B = W^1/2 Y, x = B^T (B B^T + reg I)^-1 W^1/2 p.
class RowSolver {
 public:
  explicit RowSolver(const Matrix& other) : other_(other) {
    if (other.rows() < other.cols()) products_ = other * other.transpose();
  }

  Vector operator()(const Vector& weights, const Vector& wanted, double reg) const {
    const Vector roots = weights.cwiseSqrt();
    const Vector b = roots.cwiseProduct(wanted);
    if (products_.size() > 0) {
      Matrix a = roots.asDiagonal() * products_ * roots.asDiagonal();
      a.diagonal().array() += reg;
      return other_.transpose() * roots.cwiseProduct(Vector(a.llt().solve(b)));
    }
    Matrix a = Matrix::Zero(other_.cols(), other_.cols());
    a.diagonal().array() = reg;
    const Matrix weighted = roots.asDiagonal() * other_;
    a.selfadjointView<Eigen::Lower>().rankUpdate(weighted.transpose());
    return a.llt().solve(weighted.transpose() * b);
  }

 private:
  const Matrix& other_;
  Matrix products_;  // of its rows
};

// Calls body(row) on only a few threads: ctest runs as many tests as there are cores.
template <class Body>
void for_rows(std::int64_t rows, const Body& body) {
  constexpr int kThreads = 4;
  ThreadTeam team(std::min(kThreads, hardware_threads()));
  team.for_chunks(rows, 1, [&](std::int64_t row, std::int64_t) { body(row); });
}

// A Newton step of every block in turn, over all rows of the other side.
void newton(const Matrix& other, const Vector& weights, const Vector& wanted, double reg,
            std::int64_t block_size, Vector& x) {
  for (std::int64_t begin = 0; begin < x.size(); begin += block_size) {
    const std::int64_t width = std::min(block_size, x.size() - begin);
    const Matrix columns = other.middleCols(begin, width);
    const Vector error = wanted - other * x;
    const Matrix hessian =
        columns.transpose() * weights.asDiagonal() * columns + reg * Matrix::Identity(width, width);
    const Vector gradient =
        columns.transpose() * weights.cwiseProduct(error) - reg * x.segment(begin, width);
    x.segment(begin, width) += hessian.llt().solve(gradient);
  }
}

}  // namespace

Dense::Dense(const Ratings& train, const ImplicitLoss& loss_of)
    : loss(loss_of),
      c(Matrix::Ones(train.n_users(), train.n_items())),
      p(Matrix::Zero(train.n_users(), train.n_items())) {
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    if (train[k].value > 0) p(train[k].user, train[k].item) = 1;
  }
  const Vector popular = p.colwise().sum().cwiseMax(1).array().pow(loss.popularity_exponent);
  c *= (popular / popular.mean()).asDiagonal();
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    c(train[k].user, train[k].item) += loss.alpha * train[k].value;
  }
}

double Dense::user_reg(std::int64_t u) const {
  return loss.row_reg(static_cast<std::int64_t>(p.row(u).sum()), p.cols());
}

double Dense::item_reg(std::int64_t i) const {
  return loss.row_reg(static_cast<std::int64_t>(p.col(i).sum()), p.rows());
}

double Dense::objective(const Matrix& x, const Matrix& y) const {
  const Matrix error = p - x * y.transpose();
  double sum = (c.array() * error.array().square()).sum();
  for (std::int64_t u = 0; u < x.rows(); ++u) sum += user_reg(u) * x.row(u).squaredNorm();
  for (std::int64_t i = 0; i < y.rows(); ++i) sum += item_reg(i) * y.row(i).squaredNorm();
  return sum;
}

Matrix Dense::solve_users(const Matrix& y) const {
  Matrix x(c.rows(), y.cols());
  const RowSolver solve(y);
  for_rows(c.rows(), [&](std::int64_t u) {
    x.row(u) = solve(c.row(u).transpose(), p.row(u).transpose(), user_reg(u)).transpose();
  });
  return x;
}

Matrix Dense::solve_items(const Matrix& x) const {
  Matrix y(c.cols(), x.cols());
  const RowSolver solve(x);
  for_rows(c.cols(),
           [&](std::int64_t i) { y.row(i) = solve(c.col(i), p.col(i), item_reg(i)).transpose(); });
  return y;
}

void Dense::zero_empty_rows(Matrix& x, Matrix& y) const {
  for (std::int64_t u = 0; u < x.rows(); ++u) {
    if (p.row(u).sum() == 0) x.row(u).setZero();
  }
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    if (p.col(i).sum() == 0) y.row(i).setZero();
  }
}

void newton_epoch(const Dense& dense, std::int64_t block_size, Matrix& x, Matrix& y) {
  dense.zero_empty_rows(x, y);
  for (std::int64_t u = 0; u < x.rows(); ++u) {
    Vector row = x.row(u).transpose();
    newton(y, dense.c.row(u).transpose(), dense.p.row(u).transpose(), dense.user_reg(u), block_size,
           row);
    x.row(u) = row.transpose();
  }
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    Vector row = y.row(i).transpose();
    newton(x, dense.c.col(i), dense.p.col(i), dense.item_reg(i), block_size, row);
    y.row(i) = row.transpose();
  }
}

Matrix rows_of(const AlignedVector<float>& packed, std::int64_t rows) {
  const std::int64_t f = std::ssize(packed) / rows;
  Matrix m(rows, f);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < f; ++k) m(r, k) = packed[r * f + k];
  }
  return m;
}

double objective(const Dense& dense, const Model& model) {
  return dense.objective(rows_of(model.p, model.n_users), rows_of(model.q, model.n_items));
}

Ratings clicks(std::int32_t users, std::int32_t items, double density, std::uint64_t seed) {
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

Ratings all_pairs(std::int32_t users, std::int32_t items) {
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) list.push_back({u, i, 1});
  }
  return mf::test::ratings_of(users, items, list);
}

}  // namespace mf::ials::test
