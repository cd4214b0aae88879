// Included with `Eigen` defined as a name of the file's own, so that no template compiled for one
// instruction set is linked in the place of another's.
#include <Eigen/Core>

#include "algorithms/als/bench/sgemm.hpp"

namespace mf::als::cpu {
namespace {

void sgemm(int n, const float* a, const float* b, float* c) {
  using Matrix = Eigen::Map<Eigen::MatrixXf, Eigen::Aligned64>;
  using ConstMatrix = Eigen::Map<const Eigen::MatrixXf, Eigen::Aligned64>;
  Matrix(c, n, n).noalias() += ConstMatrix(a, n, n) * ConstMatrix(b, n, n);
}

}  // namespace
}  // namespace mf::als::cpu
