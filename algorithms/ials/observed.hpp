// What a value says of a pair, the same on host and device. Light: kernels include it.
#pragma once

#include <cfloat>

#include "base/host_device.hpp"

namespace mf::ials {

// w = alpha r (ImplicitLoss::weight), rounded once.
MF_HD float pair_weight(float value, double alpha) { return static_cast<float>(alpha * value); }

// 0 (not observed), or above it with a weight that is a normal number.
MF_HD bool is_confidence(float value, double alpha) {
  const float weight = pair_weight(value, alpha);
  return value == 0 || (value > 0 && weight >= FLT_MIN && weight <= FLT_MAX);
}

// Of all observed pairs; 0 where there are none.
struct WeightRange {
  float least = 0;
  float most = 0;
};

}  // namespace mf::ials
