// A_u and b_u of (2) for als::cpu::HalfStep, which forms and solves them.
#pragma once

#include <cmath>

#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/ials/gram.hpp"

namespace mf::ials {

// Kernels sum w y y^T as outer products of sqrt(w) y, and (1 + w) y as (1 + w) / sqrt(w) times it;
// G and l are added last. `regs` are l of the rows of the side.
class ImplicitTerms : public als::cpu::RowTerms {
 public:
  ImplicitTerms(const Gram& gram, const AlignedVector<float>& regs, std::int32_t factors)
      : gram_(gram), regs_(regs), factors_(factors) {}

  als::cpu::RowRatings ratings(const als::Side& side, std::int64_t begin, std::int64_t end,
                               AlignedVector<float>& buffer) const override {
    const std::int64_t count = end - begin;
    buffer.resize(2 * count);
    float* scales = buffer.data();
    float* values = scales + count;
    for (std::int64_t k = 0; k < count; ++k) {
      const float w = side.values[begin + k];
      scales[k] = std::sqrt(w);
      values[k] = (1 + w) / scales[k];
    }
    return {side.others.data() + begin, values, count, scales};
  }

  void complete(std::int64_t row, std::int64_t /*count*/, float* a,
                std::int64_t stride) const override {
    for (std::int64_t j = 0; j < factors_; ++j) {  // the upper half, which the kernels wrote
      const float* gram = gram_.data() + j * stride;
      for (std::int64_t i = 0; i <= j; ++i) a[j * stride + i] += gram[i];
      a[j * stride + j] += regs_[row];
    }
  }

 private:
  const Gram& gram_;
  const AlignedVector<float>& regs_;
  std::int32_t factors_;
};

}  // namespace mf::ials
