// Device memory of a Whitening, for builds without CUDA, too.
#pragma once

#include <cstdint>

#include "algorithms/ials/fused/gram_chunks.hpp"

namespace mf::ials {

// Workspace of the libraries excepted.
constexpr double whitening_bytes(std::int32_t factors) {
  const double square = static_cast<double>(factors) * factors;
  return square * (4.0 * static_cast<double>(kMostGramChunks) + 2 * 8 + 2 * 4 + 8);
}

}  // namespace mf::ials
