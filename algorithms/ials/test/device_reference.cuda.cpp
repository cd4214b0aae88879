#include "algorithms/ials/test/device_reference.hpp"

#include <Eigen/Cholesky>
#include <algorithm>

#include "algorithms/als/test/dense_cg.hpp"

namespace mf::ials::test {

RowSystem::RowSystem(const Matrix& other, const Vector& c, const Vector& p, double reg)
    : a(other.transpose() * c.asDiagonal() * other),
      b(other.transpose() * c.cwiseProduct(p)),
      observed(p.sum() > 0) {
  a.diagonal().array() += reg;
}

void half_step(const Dense& dense, bool users, Matrix& rows, const Matrix& other,
               const Solve& solve) {
  for (std::int64_t r = 0; r < rows.rows(); ++r) {
    const Vector c = users ? Vector(dense.c.row(r).transpose()) : Vector(dense.c.col(r));
    const Vector p = users ? Vector(dense.p.row(r).transpose()) : Vector(dense.p.col(r));
    const RowSystem system(other, c, p, users ? dense.user_reg(r) : dense.item_reg(r));
    Vector x = rows.row(r).transpose();
    if (system.observed) {
      solve(system, x);
    } else {
      x.setZero();
    }
    rows.row(r) = x.transpose();
  }
}

std::pair<Matrix, Matrix> epochs(const Dense& dense, const Model& start, int count,
                                 const Solve& solve) {
  Matrix x = rows_of(start.p, start.n_users);
  Matrix y = rows_of(start.q, start.n_items);
  dense.zero_empty_rows(x, y);
  for (int k = 0; k < count; ++k) {
    half_step(dense, true, x, y, solve);
    half_step(dense, false, y, x, solve);
  }
  return {x, y};
}

void solve_exactly(const RowSystem& system, Vector& x) { x = system.a.llt().solve(system.b); }

void SolveByCg::operator()(const RowSystem& system, Vector& x) const {
  als::test::cg_solve(system.a.data(), x.size(), system.b.data(), x.data(), {steps, 0});
}

void SolveByBlocks::operator()(const RowSystem& system, Vector& x) const {
  for (std::int64_t first = 0; first < x.size(); first += block_size) {
    const std::int64_t d = std::min(block_size, x.size() - first);
    const Vector gradient = system.a.middleRows(first, d) * x - system.b.segment(first, d);
    x.segment(first, d) -= system.a.block(first, first, d, d).llt().solve(gradient);
  }
}

}  // namespace mf::ials::test
