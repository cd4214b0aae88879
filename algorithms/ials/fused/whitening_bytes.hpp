// Device memory of a Whitening, for builds without CUDA, too.
#pragma once

#include <cstdint>

namespace mf::ials {

// G is summed in fp32 over a chunk of rows, in double over chunks: as many of them as keep the
// device busy.
inline constexpr std::int64_t kMostGramChunks = 256;

// Workspace of the libraries excepted.
constexpr double whitening_bytes(std::int32_t factors) {
  const double square = static_cast<double>(factors) * factors;
  return square * (4.0 * static_cast<double>(kMostGramChunks + 1) + 2 * 8 + 2 * 4 + 8);
}

}  // namespace mf::ials
