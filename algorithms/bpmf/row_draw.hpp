// A row's conditional on the CPU, from the sums that als_cpu forms: over the ratings of u, with the
// rows (q, 1) of the other side and its biases c,
//   A = alpha sum (q, 1) (q, 1)^T + Lambda,   b = alpha sum (r - c) (q, 1) + Lambda mu
//   (x, b_u) ~ N(A^-1 b, A^-1)
// Without biases, q takes the place of (q, 1). With A = R R^T, R upper triangular, R z = b and n
// from N(0, I) it is R^T (x, b_u) = z + n.
#pragma once

#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/bpmf/prior.hpp"
#include "algorithms/bpmf/settings.hpp"

namespace mf::bpmf {

class RowDraw : public als::cpu::RowTerms {
 public:
  RowDraw(const RowColumns& columns, const als::cpu::FormationKernels& kernels,
          const RowPrior& prior, double alpha, std::uint64_t key, double* residuals)
      : columns_(columns),
        kernels_(kernels),
        prior_(prior),
        alpha_(alpha),
        key_(key),
        residuals_(residuals) {}

  void complete(std::int64_t row, std::int64_t count, float* a, std::int64_t stride) const override;
  bool solve(std::int64_t row, float* a, const float* b, float* x,
             als::cpu::Workspace& work) const override;

 private:
  const RowColumns& columns_;
  const als::cpu::FormationKernels& kernels_;
  const RowPrior& prior_;
  double alpha_;
  std::uint64_t key_;
  double* residuals_;  // sum of each row's squared errors less its squared ratings, or null
};

}  // namespace mf::bpmf
