// Items of a row ascend, so that a block's stand together: two searches find them. Bytes: 16 of a
// rating, and some 8 log(row) of a user and block.
#include "algorithms/sgd_tiled/blocks.hpp"

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/scan_sort.cuh"

namespace mf::sgd_tiled {
namespace {

constexpr int kThreads = 256;

// The first rating of the row whose item is not below `item`.
__device__ std::int64_t first_from(const cuda::RatingsOfRows& users, std::int64_t row,
                                   std::int64_t item) {
  std::int64_t low = users.offsets[row];
  std::int64_t high = users.offsets[row + 1];
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (users.ratings[middle].other < item) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// A thread a user and block.
__global__ void __launch_bounds__(kThreads)
    count_kernel(const cuda::RatingsOfRows users, const std::int64_t* cuts, std::int64_t blocks,
                 std::int64_t* counts) {
  const std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= users.rows * blocks) return;
  const std::int64_t block = at / users.rows;
  const std::int64_t row = at % users.rows;
  counts[at] = first_from(users, row, cuts[block + 1]) - first_from(users, row, cuts[block]);
}

// A warp a user and block.
__global__ void __launch_bounds__(kThreads)
    copy_kernel(const cuda::RatingsOfRows users, const std::int64_t* cuts, std::int64_t blocks,
                const std::int64_t* offsets, RowRating* to) {
  const std::int64_t warps = std::int64_t{gridDim.x} * (kThreads / 32);
  std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
  for (; at < users.rows * blocks; at += warps) {
    const std::int64_t begin = offsets[at];
    const std::int64_t count = offsets[at + 1] - begin;
    if (count == 0) continue;
    const std::int64_t from = first_from(users, at % users.rows, cuts[at / users.rows]);
    for (std::int64_t i = threadIdx.x % 32; i < count; i += 32) {
      to[begin + i] = users.ratings[from + i];
    }
  }
}

}  // namespace

ItemBlocks::ItemBlocks(const cuda::RatingsOfRows& users, const std::vector<std::int64_t>& cuts,
                       cudaStream_t stream)
    : rows_(users.rows), ratings_(users.nnz) {
  const auto blocks = static_cast<std::int64_t>(cuts.size()) - 1;
  const std::int64_t all = rows_ * blocks;
  counts_.assign(blocks, 0);
  offsets_ = cuda::zeros<std::int64_t>(all + 1, stream);
  if (all == 0) return;
  const auto where = cuda::upload(View<const std::int64_t>(cuts), stream);
  count_kernel<<<cuda::blocks_for(all, kThreads), kThreads, 0, stream>>>(users, where.data(),
                                                                         blocks, offsets_.data());
  MF_CUDA_LAUNCHED("sgd_tiled block counts");
  cuda::exclusive_sums(offsets_.data(), offsets_.data(), all + 1, stream);
  copy_kernel<<<cuda::blocks_for(all, kThreads / 32, 1 << 20), kThreads, 0, stream>>>(
      users, where.data(), blocks, offsets_.data(), ratings_.data());
  MF_CUDA_LAUNCHED("sgd_tiled block copy");
  std::vector<std::int64_t> begins(blocks + 1);
  MF_CUDA(cudaMemcpy2DAsync(begins.data(), sizeof(std::int64_t), offsets_.data(),
                            rows_ * sizeof(std::int64_t), sizeof(std::int64_t), blocks + 1,
                            cudaMemcpyDeviceToHost, stream));
  MF_CUDA(cudaStreamSynchronize(stream));
  for (std::int64_t block = 0; block < blocks; ++block) {
    counts_[block] = begins[block + 1] - begins[block];
  }
}

cuda::RatingsOfRows ItemBlocks::users_in(int block) const {
  return {offsets_.data() + block * rows_, ratings_.data(), rows_, counts_[block]};
}

}  // namespace mf::sgd_tiled
