// The Gram matrix of one side's factors, which stands for the sum over all pairs.
#pragma once

#include <cstdint>

#include "algorithms/als/cpu/formation.hpp"
#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf::ials {

// G = sum over rows of c y y^T, c by `weights` or 1: f x f, both halves, element (i, j) at data()[i
// * stride() + j]; rows and columns from f to stride() are zero. Each of up to 64 parts of the rows
// is summed in fp32 as als forms its systems, then the parts in double, in order: the same for any
// number of threads.
class Gram {
 public:
  void compute(const als::cpu::FactorRows& rows, std::int64_t count,
               const als::cpu::FormationKernels& kernels, ThreadTeam& team,
               View<const float> weights = {});

  const float* data() const { return gram_.data(); }
  std::int64_t stride() const { return stride_; }

 private:
  void add_parts(std::int64_t parts, std::int64_t factors, ThreadTeam& team);

  std::int64_t stride_ = 0;
  AlignedVector<float> gram_;
  AlignedVector<float> sums_;  // of the parts
  AlignedVector<std::int32_t> in_order_;
  AlignedVector<float> zeros_;
  AlignedVector<float> roots_;  // of the weights
};

}  // namespace mf::ials
