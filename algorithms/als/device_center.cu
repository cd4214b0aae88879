// The mean is one pass over R. Each sweep of the biases is two, 8 bytes of a rating read and a bias
// gathered; a warp a row.
#include "algorithms/als/device_center.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "algorithms/core/cuda/launch.hpp"

namespace mf::als {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kRatingsOfBlock = 1 << 16;
constexpr unsigned kAll = 0xffffffff;

__device__ double sum_of_warp(double value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(kAll, value, lane);
  return value;
}

// A block's sum of its ratings; the same order for any device.
__global__ void __launch_bounds__(kThreads)
    sum_kernel(const RowRating* ratings, std::int64_t nnz, double* sums) {
  __shared__ double of_warp[kThreads / 32];
  const std::int64_t begin = blockIdx.x * kRatingsOfBlock;
  const std::int64_t end = min(begin + kRatingsOfBlock, nnz);
  double sum = 0;
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kThreads) sum += ratings[i].value;
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kThreads / 32; ++warp) sum += of_warp[warp];
  sums[blockIdx.x] = sum;
}

// b_x = sum over the row of (r - mu - b_other) / (n_x + lambda n_x^power)
__global__ void __launch_bounds__(kThreads)
    bias_kernel(const cuda::RatingsOfRows rows, double mean, RowReg reg, const float* other_bias,
                float* bias) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
  if (row >= rows.rows) return;
  const std::int64_t begin = rows.offsets[row];
  const std::int64_t end = rows.offsets[row + 1];
  double sum = 0;
  for (std::int64_t i = begin + threadIdx.x % 32; i < end; i += 32) {
    const RowRating rating = rows.ratings[i];
    sum += rating.value - mean - other_bias[rating.other];
  }
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 != 0) return;
  bias[row] = begin == end ? 0.0F : static_cast<float>(sum / reg.with_count(end - begin));
}

// Copies between a column of the rows and `bias`. If `bias` is null, the column gets ones.
__global__ void __launch_bounds__(kThreads)
    move_kernel(float* column, std::int64_t stride, std::int64_t count, float* bias, bool take) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= count) return;
  float& element = column[row * stride];
  if (take) {
    bias[row] = element;
  } else {
    element = bias != nullptr ? bias[row] : 1.0F;
  }
}

void solve(const cuda::RatingsOfRows& rows, double mean, RowReg reg, const float* other_bias,
           float* bias, cudaStream_t stream) {
  if (rows.rows == 0) return;
  bias_kernel<<<cuda::blocks_for(rows.rows, kThreads / 32), kThreads, 0, stream>>>(
      rows, mean, reg, other_bias, bias);
  MF_CUDA_LAUNCHED("als bias");
}

double sum_on_device(const cuda::RatingsOfRows& rows, cudaStream_t stream) {
  if (rows.nnz == 0) return 0;
  const std::int64_t blocks = (rows.nnz + kRatingsOfBlock - 1) / kRatingsOfBlock;
  cuda::StreamBuffer<double> device(blocks, stream);
  sum_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(rows.ratings, rows.nnz,
                                                                     device.data());
  MF_CUDA_LAUNCHED("als mean");
  std::vector<double> sums(blocks);
  cuda::download(View<double>(sums), device.data(), stream);
  double sum = 0;
  for (const double of_block : sums) sum += of_block;
  return sum;
}

}  // namespace

DeviceCenter::DeviceCenter(const ModelShape& plain, CenterKind kind, RowReg reg,
                           cuda::DeviceRatings& ratings, cudaStream_t stream)
    : shape_(plain) {
  if (kind == CenterKind::none) return;
  shape_.kind = ModelKind::biased;
  const auto nnz = static_cast<double>(std::max<std::int64_t>(1, ratings.nnz()));
  shape_.mean = sum_on_device(ratings.rows(), stream) / nnz;
  start_biases(kind, stream);
  if (kind == CenterKind::mean) return;
  for (int sweep = 0; sweep < kCenterSweeps; ++sweep) {
    solve(ratings.columns(stream), shape_.mean, reg, user_bias_.data(), item_bias_.data(), stream);
    solve(ratings.rows(), shape_.mean, reg, item_bias_.data(), user_bias_.data(), stream);
  }
}

DeviceCenter::DeviceCenter(const ModelShape& plain, CenterKind kind, RowReg reg,
                           cuda::StreamedRatings& ratings, cudaStream_t stream)
    : shape_(plain) {
  using Piece = cuda::StreamedRatings::Piece;
  if (kind == CenterKind::none) return;
  shape_.kind = ModelKind::biased;
  double sum = 0;
  ratings.for_pieces(cuda::RowsOf::users, stream, [&](const Piece& piece) {
    sum += sum_on_device({nullptr, piece.memory, piece.rows.rows, piece.rows.nnz}, stream);
  });
  shape_.mean = sum / static_cast<double>(std::max<std::int64_t>(1, ratings.nnz()));
  start_biases(kind, stream);
  if (kind == CenterKind::mean) return;
  for (int sweep = 0; sweep < kCenterSweeps; ++sweep) {
    ratings.for_pieces(cuda::RowsOf::items, stream, [&](const Piece& piece) {
      solve(piece.rows, shape_.mean, reg, user_bias_.data(), item_bias_.data() + piece.first_row,
            stream);
    });
    ratings.for_pieces(cuda::RowsOf::users, stream, [&](const Piece& piece) {
      solve(piece.rows, shape_.mean, reg, item_bias_.data(), user_bias_.data() + piece.first_row,
            stream);
    });
  }
}

namespace {

PartOffsets float_parts(const RowShards& shards) {
  PartOffsets parts = {0};
  for (int rank = 0; rank < shards.ranks(); ++rank) {
    parts.push_back(shards.own(rank).end * static_cast<std::int64_t>(sizeof(float)));
  }
  return parts;
}

}  // namespace

DeviceCenter::DeviceCenter(const ModelShape& plain, CenterKind kind, RowReg reg,
                           cuda::RankRatings& ratings, cudaStream_t stream)
    : shape_(plain) {
  if (kind == CenterKind::none) return;
  shape_.kind = ModelKind::biased;
  double sum = sum_on_device(ratings.rows(), stream);
  ratings.devices().host().all_sum(std::span(&sum, 1));
  shape_.mean = sum / static_cast<double>(std::max<std::int64_t>(1, ratings.nnz()));
  start_biases(kind, stream);
  if (kind == CenterKind::mean) return;
  const PartOffsets users = float_parts(ratings.user_shards());
  const PartOffsets items = float_parts(ratings.item_shards());
  for (int sweep = 0; sweep < kCenterSweeps; ++sweep) {
    solve(ratings.columns(stream), shape_.mean, reg, user_bias_.data(),
          item_bias_.data() + ratings.own_items().begin, stream);
    ratings.devices().all_gather(item_bias_.data(), items, stream);
    solve(ratings.rows(), shape_.mean, reg, item_bias_.data(),
          user_bias_.data() + ratings.own_users().begin, stream);
    ratings.devices().all_gather(user_bias_.data(), users, stream);
  }
  ratings.devices().wait(stream);
}

void DeviceCenter::start_biases(CenterKind kind, cudaStream_t stream) {
  user_bias_ = cuda::zeros<float>(shape_.n_users, stream);
  item_bias_ = cuda::zeros<float>(shape_.n_items, stream);
  if (kind != CenterKind::solved) return;
  removed_user_bias_ = cuda::zeros<float>(shape_.n_users, stream);
  removed_item_bias_ = cuda::zeros<float>(shape_.n_items, stream);
}

DeviceResidual DeviceCenter::residual() const {
  const bool solved = !removed_user_bias_.empty();
  return {static_cast<float>(shape_.biased() ? shape_.mean : 0),
          (solved ? removed_user_bias_ : user_bias_).data(),
          (solved ? removed_item_bias_ : item_bias_).data()};
}

void DeviceCenter::move_biases(bool of_users, BiasMove move, float* rows, std::int64_t stride,
                               cudaStream_t stream) {
  const std::int64_t count = of_users ? shape_.n_users : shape_.n_items;
  float* const bias = (of_users ? user_bias_ : item_bias_).data();
  if (count == 0) return;
  move_kernel<<<cuda::blocks_for(count, kThreads), kThreads, 0, stream>>>(
      rows + shape_.factors, stride, count, move == BiasMove::put_ones ? nullptr : bias,
      move == BiasMove::take);
  MF_CUDA_LAUNCHED("als solved biases");
}

}  // namespace mf::als
