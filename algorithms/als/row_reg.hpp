// The addend of the diagonal of a row's system: lambda n^power of a row with n ratings. power 1 is
// weighted lambda (Zhou et al.), 0 the same for every row that has ratings; between them, Rendle,
// Krichene, Zhang, Koren, "Revisiting the Performance of iALS on Item Recommendation Benchmarks",
// RecSys 2022, for implicit feedback (ials has their rule). Light: kernels include it.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace mf::als {

struct RowReg {
  double reg = 0;
  double power = 1;

  RowReg() = default;
  RowReg(double lambda, double exponent = 1) : reg(lambda), power(exponent) {}

  double of(std::int64_t count) const {
    const auto n = static_cast<double>(count);
    return power == 1 || count == 0 ? reg * n : reg * std::pow(n, power);
  }
  // The divisor of a row's residual sum for its bias, which is shrunk as factors are.
  MF_HD double with_count(std::int64_t count) const {
    const auto n = static_cast<double>(count);
    return power == 1 ? (1 + reg) * n : n + reg * std::pow(n, power);
  }
};

// RowReg::of() in fp32. A device takes the power by its special functions, whose logarithm is good
// to 2^-22 of its value: for a million ratings 2e-6 of the result with power .5, 7e-6 with 2. With
// power 1 nothing but the product is computed.
MF_HD float row_reg(float reg, float power, std::int32_t count) {
  const auto n = static_cast<float>(count);
  if (power == 1.0F || count == 0) return reg * n;
#ifdef __CUDA_ARCH__
  return reg * __powf(n, power);
#else
  return reg * std::pow(n, power);
#endif
}

}  // namespace mf::als
