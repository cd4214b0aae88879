// Bytes on the device that do not depend on the data. For every build: settings count them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/core/device_need.hpp"
#include "algorithms/core/rows.hpp"

namespace mf::ials {

// While pairs are split into indices and weights: those of both sides of R, and of one that is
// made.
inline double splitting_pairs_bytes(const ProblemShape& shape) {
  const double sides =
      row_ratings_bytes(shape) + column_ratings_bytes(shape) + 8 * static_cast<double>(shape.nnz);
  return std::max(sides, making_columns_bytes(shape));
}

constexpr double device_gram_bytes(std::int64_t factors) {
  return 4.0 * static_cast<double>(factors * row_stride(factors, sizeof(float)));
}

}  // namespace mf::ials
