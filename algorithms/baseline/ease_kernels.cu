#include "algorithms/baseline/ease_kernels.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::baseline {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 32;

// A thread block a user, a warp an item i of the user, lanes over the items from i on. G products
// of two pairs of a user are G / 2 atomic additions, of which the L2 does the popular ones.
__global__ void gram(cuda::RatingsOfRows users, std::int64_t n, float* sums) {
  const RowRating* row = users.ratings + users.offsets[blockIdx.x];
  const std::int64_t count = users.offsets[blockIdx.x + 1] - users.offsets[blockIdx.x];
  for (std::int64_t a = threadIdx.x / 32; a < count; a += kThreads / 32) {
    float* of_item = sums + row[a].other * n;
    if (!(row[a].value > 0)) continue;
    for (std::int64_t b = a + threadIdx.x % 32; b < count; b += 32) {
      atomicAdd(of_item + row[b].other, row[b].value > 0 ? 1.0F : 0.0F);
    }
  }
}

__global__ void add_diagonal(float* x, std::int64_t stride, std::int64_t n, float value,
                             float share) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) x[i * (stride + 1)] += value + share * x[i * (stride + 1)];
}

// A thread block a tile above the diagonal, or on it, and the one that mirrors it.
__global__ void weights_of(float* p, const float* diagonal, std::int64_t n) {
  __shared__ float tile[kTile][kTile + 1];
  if (blockIdx.y > blockIdx.x) return;
  const std::int64_t column = std::int64_t{blockIdx.x} * kTile;
  const std::int64_t row = std::int64_t{blockIdx.y} * kTile;
  const auto c = static_cast<int>(threadIdx.x);
  for (auto r = static_cast<int>(threadIdx.y); r < kTile; r += static_cast<int>(blockDim.y)) {
    const bool above = row + r < column + c && column + c < n;
    tile[r][c] = above ? -p[(row + r) * n + column + c] : 0;
  }
  __syncthreads();
  for (auto r = static_cast<int>(threadIdx.y); r < kTile; r += static_cast<int>(blockDim.y)) {
    if (row + r <= column + c && column + c < n) {
      p[(row + r) * n + column + c] = tile[r][c] / diagonal[column + c];
    }
    if (row + c < column + r && column + r < n) {
      p[(column + r) * n + row + c] = tile[c][r] / diagonal[row + c];
    }
  }
}

}  // namespace

void launch_gram(const cuda::RatingsOfRows& users, std::int64_t n_items, float* sums,
                 cudaStream_t stream) {
  gram<<<static_cast<unsigned>(users.rows), kThreads, 0, stream>>>(users, n_items, sums);
  MF_CUDA_LAUNCHED("ease gram");
}

void launch_add_diagonal(float* x, std::int64_t stride, std::int64_t n, float value,
                         cudaStream_t stream, float share) {
  add_diagonal<<<cuda::blocks_for(n, kThreads), kThreads, 0, stream>>>(x, stride, n, value, share);
  MF_CUDA_LAUNCHED("ease add_diagonal");
}

void launch_weights(float* p, const float* diagonal, std::int64_t n, cudaStream_t stream) {
  const unsigned tiles = cuda::blocks_for(n, kTile);
  weights_of<<<dim3(tiles, tiles), dim3(kTile, 8), 0, stream>>>(p, diagonal, n);
  MF_CUDA_LAUNCHED("ease weights");
}

}  // namespace mf::baseline
