// A rating with the center removed, in kernels.
#pragma once

#include <cstdint>

#include "algorithms/als/device_center.hpp"

namespace mf::als {

// In the order of Center::residual, so that both round alike. `row` is a user or an item.
template <bool kOfUsers>
__device__ __forceinline__ float residual_of(const DeviceResidual& center, std::int64_t row,
                                             RowRating rating) {
  if (center.user_bias == nullptr) return rating.value;
  const float user = center.user_bias[kOfUsers ? row : rating.other];
  const float item = center.item_bias[kOfUsers ? rating.other : row];
  return rating.value - center.mean - user - item;
}

}  // namespace mf::als
