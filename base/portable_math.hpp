// log, exp, cos and the normal quantile, only from IEEE additions, multiplications, divisions and
// square roots. Those are rounded the same everywhere; the functions of <cmath> are not, and one
// last bit in a hundred million ratings would change the hash of a generated data set. Functions
// marked for kernels agree there if the kernel's source is compiled without fused multiply-adds.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/host_device.hpp"

namespace mf::portable {

// Horner's rule, highest power first.
template <std::size_t N>
MF_HD constexpr double polynomial(const double (&c)[N], double x) {
  double y = c[0];
  for (std::size_t k = 1; k < N; ++k) y = y * x + c[k];
  return y;
}

MF_HD std::uint64_t bits_of(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
MF_HD double of_bits(std::uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Natural logarithm of a positive normal number; relative error below 1e-14.
MF_HD double log(double x) {
  constexpr double kLn2 = 0.693147180559945309;
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;  // bits of sqrt(1/2)
  const std::uint64_t bits = bits_of(x);
  // x = m 2^e with m in [sqrt(1/2), sqrt(2))
  const auto e = static_cast<std::int64_t>(bits - kSqrtHalf) >> 52;
  const double m = of_bits(bits - (static_cast<std::uint64_t>(e) << 52));
  const double s = (m - 1) / (m + 1);  // log m = 2 artanh s
  constexpr double kArtanh[] = {2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9,
                                2.0 / 7,  2.0 / 5,  2.0 / 3,  2.0};
  return static_cast<double>(e) * kLn2 + s * polynomial(kArtanh, s * s);
}

// cos(2 pi v) for v in [0, 1); absolute error below 1e-15. Quarter turns are taken off exactly; the
// rest is at most an eighth of a turn.
MF_HD double cos_of_turns(double v) {
  constexpr double kHalfPi = 1.57079632679489661923;
  constexpr double kSin[] = {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
                             -1.0 / 5040,          1.0 / 120,        -1.0 / 6,        1.0};
  constexpr double kCos[] = {1.0 / 20922789888000,
                             -1.0 / 87178291200,
                             1.0 / 479001600,
                             -1.0 / 3628800,
                             1.0 / 40320,
                             -1.0 / 720,
                             1.0 / 24,
                             -0.5,
                             1.0};
  const double quarters = 4 * v;
  const int turn = static_cast<int>(quarters + 0.5);
  const double angle = (quarters - turn) * kHalfPi;
  const double square = angle * angle;
  const double value = turn % 2 == 0 ? polynomial(kCos, square) : angle * polynomial(kSin, square);
  return turn == 1 || turn == 2 ? -value : value;
}

// e^x for |x| below 700; relative error below 1e-13.
inline double exp(double x) {
  constexpr double kLog2E = 1.44269504088896341;
  constexpr double kLn2High = 0x1.62e42fefap-1;  // few bits, so that k times it is exact
  constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
  const double k = std::floor(x * kLog2E + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  constexpr double kTaylor[] = {1.0 / 479001600,
                                1.0 / 39916800,
                                1.0 / 3628800,
                                1.0 / 362880,
                                1.0 / 40320,
                                1.0 / 5040,
                                1.0 / 720,
                                1.0 / 120,
                                1.0 / 24,
                                1.0 / 6,
                                1.0 / 2,
                                1.0,
                                1.0};
  const auto power = static_cast<std::uint64_t>(static_cast<std::int64_t>(k) + 1023) << 52;
  return polynomial(kTaylor, r) * of_bits(power);
}

// z with P(N(0, 1) <= z) = p for p in (0, 1): Acklam's rational approximation, relative error
// below 1.2e-9.
inline double normal_quantile(double p) {
  constexpr double kA[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                           1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double kB[] = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                           6.680131188771972e+01,  -1.328068155288572e+01, 1.0};
  constexpr double kC[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                           -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double kD[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                           3.754408661907416e+00, 1.0};
  constexpr double kTail = 0.02425;
  if (p >= kTail && p <= 1 - kTail) {
    const double q = p - 0.5;
    return q * polynomial(kA, q * q) / polynomial(kB, q * q);
  }
  const double q = std::sqrt(-2 * log(p < 0.5 ? p : 1 - p));
  const double z = polynomial(kC, q) / polynomial(kD, q);
  return p < 0.5 ? z : -z;
}

}  // namespace mf::portable
