// How rows of factors lie in memory.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace mf {

// The alignment of a row: words of 16 bytes, one load of a GPU's thread; or the cache lines of a
// CPU.
inline constexpr std::int64_t kWordBytes = 16;
inline constexpr std::int64_t kLineBytes = 64;

// Elements from one row to the next: `width` of them, and zeros up to a whole number of units.
MF_HD constexpr std::int64_t row_stride(std::int64_t width, std::int64_t element_bytes,
                                        std::int64_t unit_bytes = kWordBytes) {
  const std::int64_t unit = unit_bytes / element_bytes;
  return (width + unit - 1) / unit * unit;
}

}  // namespace mf
