// Bytes of device memory that the ratings take there while an algorithm is prepared, for
// AlgorithmInfo::memory (cuda/device_ratings.hpp needs CUDA).
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/core/algorithm.hpp"

namespace mf {

// Ratings that are sorted into columns at a time.
inline constexpr std::int64_t kSortAtOnce = std::int64_t{1} << 28;

// R by rows, as it is uploaded; R by columns.
inline double row_ratings_bytes(const ProblemShape& shape) {
  return 8.0 * static_cast<double>(shape.nnz) + 8.0 * static_cast<double>(shape.n_users + 1);
}
inline double column_ratings_bytes(const ProblemShape& shape) {
  return 8.0 * static_cast<double>(shape.nnz) + 8.0 * static_cast<double>(shape.n_items + 1);
}

// The most that there is of both while the columns are made: keys and ratings, each twice. Where
// all are sorted at once, one of the latter becomes the columns.
inline double making_columns_bytes(const ProblemShape& shape) {
  const bool at_once = shape.nnz <= kSortAtOnce;
  const auto sorted = static_cast<double>(std::min(shape.nnz, kSortAtOnce));
  return row_ratings_bytes(shape) + 24 * sorted + (at_once ? 0 : column_ratings_bytes(shape));
}

// While ratings are sorted by keys of that many bytes (cuda/sort_ratings.cuh), R by rows among
// them, and then copied into their new order of 12 bytes each.
inline double sorting_bytes(const ProblemShape& shape, double key_bytes) {
  const double nnz = static_cast<double>(shape.nnz);
  return row_ratings_bytes(shape) + nnz * (12 + std::max(2 * key_bytes, 12.0));
}
// Ratings that can be sorted so, at most.
inline constexpr std::int64_t kMostSorted = (std::int64_t{1} << 32) - 1;

// Of parts of rows while they are sorted, 72 each, and of the sums that number them.
inline double cutting_bytes(double parts, double rows) { return 72 * parts + 16 * rows; }

}  // namespace mf
