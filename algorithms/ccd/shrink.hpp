// lambda of a row, the same on host and device. Light: kernels include it.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace mf::ccd {

// `by_ratings`: reg for each of the row's ratings (RegScale::rows), else reg.
MF_HD float row_shrink(double reg, bool by_ratings, std::int64_t ratings) {
  return static_cast<float>(by_ratings ? reg * static_cast<double>(ratings) : reg);
}

}  // namespace mf::ccd
