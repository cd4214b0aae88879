// Bytes on the device that do not depend on the data. Of every build: settings count them.
#pragma once

#include <cstdint>

#include "algorithms/core/rows.hpp"

namespace mf::ials {

// What cuBLAS and cuSOLVER keep for themselves.
constexpr double kLibraryBytes = 256e6;

constexpr double device_gram_bytes(std::int64_t factors) {
  return 4.0 * static_cast<double>(factors * row_stride(factors, sizeof(float)));
}

}  // namespace mf::ials
