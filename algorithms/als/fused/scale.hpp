// The scale in which als_fused solves: ratings far beyond its range are made smaller.
//
// With ratings s r, s = 4^-k, and reg s in place of reg, the factors of (1) in README.md scale by
// 2^-k, A by s, b and the residual by 8^-k. All are powers of two, so that only values below fp32's
// or fp16's range are rounded.
#pragma once

#include <cstdint>

namespace mf::als {

struct FusedScale {
  int k = 0;
};

// For ratings of at most `largest`: k = 0 up to 512; else the least k that leaves at most 32.
FusedScale scale_for(float largest);

// Multipliers.
double rating_scale(FusedScale scale);    // 4^-k: ratings and reg
double factor_scale(FusedScale scale);    // 2^-k
double residual_scale(FusedScale scale);  // 8^-k: the tolerance of CG

}  // namespace mf::als
