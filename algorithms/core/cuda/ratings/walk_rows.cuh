// The walk over ratings that what is made of R begins with: a warp a row, its lanes side by side.
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

// What a walk calls. Each thread has a copy, new for every row: visitor(row, i, rating) for the
// ratings i of its lane, then end_row(), which all lanes of the warp call together.
struct RowVisitor {
  __device__ void end_row() {}
};

namespace walk {

inline constexpr int kThreads = 256;

template <class Visitor>
__global__ void __launch_bounds__(kThreads)
    kernel(const RatingsOfRows rows, const RatingStretch part, const Visitor visitor) {
  const std::int64_t warps = std::int64_t{gridDim.x} * (kThreads / 32);
  std::int64_t row = part.first + (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
  for (; row < part.last; row += warps) {
    Visitor own = visitor;
    const std::int64_t begin = max(rows.offsets[row], part.begin);
    const std::int64_t end = min(rows.offsets[row + 1], part.end);
    for (std::int64_t i = begin + threadIdx.x % 32; i < end; i += 32) {
      own(row, i, rows.ratings[i]);
    }
    own.end_row();
  }
}

}  // namespace walk

// Queued. `name` is for errors.
template <class Visitor>
void walk_ratings(const RatingsOfRows& rows, const RatingStretch& part, const Visitor& visitor,
                  const char* name, cudaStream_t stream) {
  if (part.last <= part.first) return;
  const unsigned blocks =
      blocks_for(part.last - part.first, walk::kThreads / 32, std::int64_t{1} << 20);
  walk::kernel<<<blocks, walk::kThreads, 0, stream>>>(rows, part, visitor);
  MF_CUDA_LAUNCHED(name);
}

template <class Visitor>
void walk_ratings(const RatingsOfRows& rows, const Visitor& visitor, const char* name,
                  cudaStream_t stream) {
  walk_ratings(rows, RatingStretch{0, rows.nnz, 0, rows.rows}, visitor, name, stream);
}

}  // namespace mf::cuda
