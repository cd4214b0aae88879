#include "algorithms/als/fused/scale.hpp"

#include <cmath>

namespace mf::als {
namespace {

// Up to here sums of CG, which grow with the fifth power of the ratings' scale, are far within
// fp32, and the squares of the ratings leave A its bits if they share its fp16 scale.
constexpr float kLargest = 512.0F;
constexpr double kAfterwards = 32.0;

}  // namespace

FusedScale scale_for(float largest) {
  FusedScale scale;
  if (!(largest > kLargest)) return scale;
  while (std::ldexp(static_cast<double>(largest), -2 * scale.k) > kAfterwards) ++scale.k;
  return scale;
}

double rating_scale(FusedScale scale) { return std::ldexp(1.0, -2 * scale.k); }
double factor_scale(FusedScale scale) { return std::ldexp(1.0, -scale.k); }
double residual_scale(FusedScale scale) { return std::ldexp(1.0, -3 * scale.k); }

}  // namespace mf::als
