// 8 bytes of a rating read and written.
#include "algorithms/core/cuda/ratings/join_columns.hpp"

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/walk_rows.cuh"

namespace mf::cuda {
namespace {

constexpr int kThreads = 256;

struct Append : RowVisitor {
  const std::int64_t* offsets;  // of the piece
  std::int32_t first_user;
  const std::int64_t* next;
  RowRating* columns;

  __device__ void operator()(std::int64_t column, std::int64_t i, RowRating rating) {
    // Read once a column: neither changes within the walk.
    const std::int64_t moved = __ldg(next + column) - __ldg(offsets + column);
    columns[i + moved] = {rating.other + first_user, rating.value};
  }
};

__global__ void __launch_bounds__(kThreads)
    advance_kernel(const std::int64_t* offsets, std::int64_t count, std::int64_t* next) {
  const std::int64_t column = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (column < count) next[column] += offsets[column + 1] - offsets[column];
}

__global__ void __launch_bounds__(kThreads)
    shift_kernel(std::int64_t* offsets, std::int64_t count, std::int64_t by) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) offsets[i] += by;
}

}  // namespace

void append_columns(const RatingsOfRows& piece, std::int64_t first_user, std::int64_t* next,
                    RowRating* columns, cudaStream_t stream) {
  if (piece.rows == 0) return;
  walk_ratings(piece,
               Append{{}, piece.offsets, static_cast<std::int32_t>(first_user), next, columns},
               "append_columns", stream);
  advance_kernel<<<blocks_for(piece.rows, kThreads), kThreads, 0, stream>>>(piece.offsets,
                                                                            piece.rows, next);
  MF_CUDA_LAUNCHED("append_columns advance");
}

void shift_offsets(std::int64_t* offsets, std::int64_t count, std::int64_t by,
                   cudaStream_t stream) {
  if (count == 0 || by == 0) return;
  shift_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(offsets, count, by);
  MF_CUDA_LAUNCHED("shift_offsets");
}

}  // namespace mf::cuda
