// The scale in which als_fused solves: ratings far beyond its range are made smaller.
//
// With ratings s r, s = 4^-k, and reg s in place of reg, the factors of (1) in README.md scale by
// 2^-k, A by s, b and the residual by 8^-k. All are powers of two, so that only values below fp32's
// or fp16's range are rounded.
#pragma once

#include <cmath>

namespace mf::als {

struct FusedScale {
  int k = 0;
};

// Up to here sums of CG, which grow with the fifth power of the ratings' scale, are far within
// fp32, and the squares of the ratings leave A its bits if they share its fp16 scale.
inline constexpr float kLargestUnscaled = 512.0F;
inline constexpr double kLargestScaled = 32.0;

// For ratings of at most `largest`: k = 0 up to 512; else the least k that leaves at most 32.
inline FusedScale scale_for(float largest) {
  FusedScale scale;
  if (!(largest > kLargestUnscaled)) return scale;
  while (std::ldexp(static_cast<double>(largest), -2 * scale.k) > kLargestScaled) ++scale.k;
  return scale;
}

// Multipliers: of ratings and reg, of factors, and of the tolerance of CG.
inline double rating_scale(FusedScale scale) { return std::ldexp(1.0, -2 * scale.k); }
inline double factor_scale(FusedScale scale) { return std::ldexp(1.0, -scale.k); }
inline double residual_scale(FusedScale scale) { return std::ldexp(1.0, -3 * scale.k); }

}  // namespace mf::als
