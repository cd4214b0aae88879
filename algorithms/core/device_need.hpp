// Bytes that libraries take on the device, and the ratings while an algorithm is prepared, and of
// the host on their way there, for AlgorithmInfo::memory (cuda/ratings/device_ratings.hpp needs
// CUDA).
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/pinned.hpp"

namespace mf {

// What cuBLAS and cuSOLVER keep on the device for themselves.
inline constexpr double kLibraryBytes = 256e6;

// Ratings that are sorted into columns at a time.
inline constexpr std::int64_t kSortAtOnce = std::int64_t{1} << 28;

// Pinned memory of the host that the ratings go up through, 8 bytes each.
inline double pinned_bytes(const ProblemShape& shape) {
  return static_cast<double>(pinned_pieces(8 * shape.nnz) * kPinnedPieceBytes);
}

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

// For one of several devices: its rows and its columns. They are cut by work, so this is about it.
inline ProblemShape share_of(const ProblemShape& shape, int devices) {
  const auto part = [&](std::int64_t all) { return (all + devices - 1) / devices; };
  return {part(shape.n_users), part(shape.n_items), part(shape.nnz)};
}

// The most that there is on it while the columns of several devices are made
// (cuda/ratings/rank_ratings.hpp): its rows, the same by item, what the others send, and what
// becomes of it; before that, the sort. Offsets of all items.
inline double joining_columns_bytes(const ProblemShape& shape, int devices) {
  const ProblemShape own = share_of(shape, devices);
  const double offsets = 24.0 * static_cast<double>(shape.n_items + 1);
  const double joining = row_ratings_bytes(own) + 24.0 * static_cast<double>(own.nnz);
  return std::max(making_columns_bytes(own), joining) + offsets;
}

// While ratings are sorted by keys of that many bytes (cuda/ratings/sort_ratings.cuh), R by rows
// among them, and then copied into their new order of 12 bytes each.
inline double sorting_bytes(const ProblemShape& shape, double key_bytes) {
  const double nnz = static_cast<double>(shape.nnz);
  return row_ratings_bytes(shape) + nnz * (12 + std::max(2 * key_bytes, 12.0));
}
// Ratings that can be sorted so, at most.
inline constexpr std::int64_t kMostSorted = (std::int64_t{1} << 32) - 1;

// Parts of the rows that have more than `split` ratings, of the side that has more of them: as if
// these rows had all ratings and filled their parts. They have most, and each has half a part more
// than it fills; the two about cancel out (0.95 and 1.02 of the number for the look-alikes of
// Netflix and Hugewiki and 8192).
inline double split_parts(const ProblemShape& shape, std::int64_t split) {
  if (split <= 0 || shape.nnz <= split) return 0;
  return static_cast<double>(shape.nnz) / static_cast<double>(split);
}

// For parts of rows while they are sorted, 72 each, and for the sums that number them.
inline double cutting_bytes(double parts, double rows) { return 72 * parts + 16 * rows; }

}  // namespace mf
