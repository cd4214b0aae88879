// The weight of an observed pair: x_ui.
#pragma once

#include "algorithms/core/params.hpp"
#include "base/host_device.hpp"

namespace mf::baseline {

enum class Weights { binary, values };
inline constexpr Names kWeights{
    std::to_array<Named<Weights>>({{"binary", Weights::binary}, {"values", Weights::values}})};

// 0 for a pair that was not observed, as in the ranking: a value not above 0.
MF_HD float weight_of(float value, Weights weights) {
  if (!(value > 0)) return 0;
  return weights == Weights::binary ? 1 : value;
}

}  // namespace mf::baseline
