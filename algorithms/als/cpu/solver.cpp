// The only file with Eigen in it: its templates must not also be compiled for other instruction
// sets, or the linker may put code of one in the place of another's.
#include "algorithms/als/cpu/solver.hpp"

#include <Eigen/LU>
#include <algorithm>

#include "algorithms/als/cg.hpp"

namespace mf::als::cpu {
namespace {

using Matrix = Eigen::Map<Eigen::MatrixXf, Eigen::Aligned64, Eigen::OuterStride<>>;
using InPlace = Eigen::Ref<Eigen::MatrixXf, 0, Eigen::OuterStride<>>;
using Vector = Eigen::Map<Eigen::VectorXf>;
using ConstVector = Eigen::Map<const Eigen::VectorXf>;

constexpr std::int64_t kBlock = 16;

// The upper half onto the lower one, block by block.
void mirror(float* a, std::int64_t stride, std::int64_t count) {
  for (std::int64_t j0 = 0; j0 < count; j0 += kBlock) {
    const std::int64_t j1 = std::min(j0 + kBlock, count);
    for (std::int64_t i0 = j0; i0 < count; i0 += kBlock) {
      const std::int64_t i1 = std::min(i0 + kBlock, count);
      for (std::int64_t j = j0; j < j1; ++j) {
        for (std::int64_t i = std::max(i0, j + 1); i < i1; ++i) {
          a[j * stride + i] = a[i * stride + j];
        }
      }
    }
  }
}

}  // namespace

RowSolver::RowSolver(Solver solver, const CgRule& rule, std::int32_t factors, std::int64_t stride,
                     const FormationKernels& kernels)
    : solver_(solver),
      rule_(rule),
      factors_(factors),
      stride_(stride),
      kernels_(kernels),
      scratch_(3 * stride) {}

bool RowSolver::solve(float* a, const float* b, float* x) {
  if (solver_ == Solver::cholesky) {
    return kernels_.cholesky(a, stride_, factors_, b, x, scratch_.data(), nullptr);
  }
  mirror(a, stride_, factors_);
  if (solver_ == Solver::lu) {
    lu(a, b, x);
  } else {
    cg(a, b, x);
  }
  return true;
}

void RowSolver::lu(float* a, const float* b, float* x) const {
  Matrix matrix(a, factors_, factors_, Eigen::OuterStride<>(stride_));
  const Eigen::PartialPivLU<InPlace> factorised(matrix);
  Vector(x, factors_) = factorised.solve(ConstVector(b, factors_));
}

void RowSolver::cg(float* a, const float* b, float* x) {
  const auto multiply = [&](const float* v, float* out) {
    kernels_.weighted_sum(a, stride_, factors_, v, out);
  };
  float* r = scratch_.data();
  cg_solve(multiply, factors_, b, x, rule_, r, r + stride_, r + 2 * stride_);
}

}  // namespace mf::als::cpu
