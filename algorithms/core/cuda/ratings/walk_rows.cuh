// The walk over ratings that begins the making of views of R: a warp a stretch of ratings, of any
// rows, so that one long row takes no longer than many rows; its lanes side by side.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"

namespace mf::cuda {

// The ratings [begin, end), which lie in the rows [first, last).
struct RatingStretch {
  std::int64_t begin, end;
  std::int64_t first, last;
  std::int64_t count() const { return end - begin; }
};

// The callbacks of a walk. Each thread has a copy, new for every row that its warp comes to:
// visitor(row, i, rating) for the ratings i of its lane, then end_row(), which all lanes of the
// warp call together. Several warps may share a row, each with a part of it.
struct RowVisitor {
  __device__ void end_row() {}
};

namespace walk {

inline constexpr int kThreads = 256;
inline constexpr std::int64_t kStretch = 1024;  // ratings of a warp
inline constexpr unsigned kAll = 0xffffffff;

// The row of rating `at`, one of [first, last): by all lanes, a step for each factor of 32 rows.
inline __device__ std::int64_t row_of(const std::int64_t* offsets, std::int64_t first,
                                      std::int64_t last, std::int64_t at) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  while (last - first > 1) {
    const std::int64_t step = (last - first + 31) / 32;
    const std::int64_t probed = first + lane * step;
    const bool before = probed < last && offsets[probed] <= at;
    first += (__popc(__ballot_sync(kAll, before)) - 1) * step;
    last = min(last, first + step);
  }
  return first;
}

template <class Visitor>
__global__ void __launch_bounds__(kThreads)
    kernel(const RatingsOfRows rows, const RatingStretch part, const Visitor visitor) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warp = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
  std::int64_t i = part.begin + warp * kStretch;
  const std::int64_t end = min(i + kStretch, part.end);
  if (i >= end) return;
  std::int64_t row = row_of(rows.offsets, part.first, part.last, i);
  while (i < end) {
    const std::int64_t row_ends = rows.offsets[min(row + lane + 1, part.last)];  // of 32 rows
    for (int k = 0; k < 32 && i < end; ++k, ++row) {
      const std::int64_t row_end = min(__shfl_sync(kAll, row_ends, k), end);
      Visitor own = visitor;
      for (std::int64_t j = i + lane; j < row_end; j += 32) own(row, j, rows.ratings[j]);
      own.end_row();
      i = row_end;
    }
  }
}

}  // namespace walk

// Queued. `name` is for errors.
template <class Visitor>
void walk_ratings(const RatingsOfRows& rows, const RatingStretch& part, const Visitor& visitor,
                  const char* name, cudaStream_t stream) {
  if (part.count() <= 0) return;
  const unsigned blocks = blocks_for(part.count(), walk::kThreads / 32 * walk::kStretch);
  walk::kernel<<<blocks, walk::kThreads, 0, stream>>>(rows, part, visitor);
  MF_CUDA_LAUNCHED(name);
}

template <class Visitor>
void walk_ratings(const RatingsOfRows& rows, const Visitor& visitor, const char* name,
                  cudaStream_t stream) {
  walk_ratings(rows, RatingStretch{rows.first, rows.first + rows.nnz, 0, rows.rows}, visitor, name,
               stream);
}

}  // namespace mf::cuda
