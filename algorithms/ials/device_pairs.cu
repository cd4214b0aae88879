// One pass over the values, 8 bytes of a rating. If some are 0, two more passes of 8 bytes and one
// that writes 8 for each side.
#include "algorithms/ials/device_pairs.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/make_columns.hpp"
#include "algorithms/core/cuda/ratings/scan_sort.cuh"
#include "algorithms/core/cuda/ratings/walk_rows.cuh"
#include "base/error.hpp"

namespace mf::ials {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffff;

// For all values. Floats that are not negative are in the order of their bits.
struct Seen {
  unsigned long long observed = 0;
  unsigned long long first_bad = ~0ULL;  // a rating
  std::uint32_t least = 0x7f800000;      // observed value
  std::uint32_t most = 0;
};

__global__ void __launch_bounds__(kThreads)
    look_kernel(const RowRating* ratings, std::int64_t nnz, double alpha, Seen* seen) {
  Seen own;
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < nnz; i += step) {
    const float value = ratings[i].value;
    if (!is_confidence(value, alpha)) {
      own.first_bad = min(own.first_bad, static_cast<unsigned long long>(i));
    } else if (value > 0) {
      ++own.observed;
      own.least = min(own.least, __float_as_uint(value));
      own.most = max(own.most, __float_as_uint(value));
    }
  }
  for (int lane = 16; lane > 0; lane /= 2) {
    own.observed += __shfl_xor_sync(kAll, own.observed, lane);
    own.first_bad = min(own.first_bad, __shfl_xor_sync(kAll, own.first_bad, lane));
    own.least = min(own.least, __shfl_xor_sync(kAll, own.least, lane));
    own.most = max(own.most, __shfl_xor_sync(kAll, own.most, lane));
  }
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&seen->observed, own.observed);
  atomicMin(&seen->first_bad, own.first_bad);
  atomicMin(&seen->least, own.least);
  atomicMax(&seen->most, own.most);
}

void add(Seen& all, const Seen& one) {
  all.observed += one.observed;
  all.least = std::min(all.least, one.least);
  all.most = std::max(all.most, one.most);
}

Seen look(const cuda::RatingsOfRows& rows, double alpha, cudaStream_t stream) {
  Seen seen;
  if (rows.nnz == 0) return seen;
  auto device = cuda::upload(View<const Seen>(&seen, 1), stream);
  const unsigned blocks =
      cuda::blocks_for(rows.nnz, kThreads, cuda::resident_blocks(look_kernel, kThreads));
  look_kernel<<<blocks, kThreads, 0, stream>>>(rows.ratings, rows.nnz, alpha, device.data());
  MF_CUDA_LAUNCHED("ials look");
  cuda::download(View<Seen>(&seen, 1), device.data(), stream);
  return seen;
}

// A warp a row: how many of its values are not 0.
__global__ void __launch_bounds__(kThreads)
    count_kernel(const cuda::RatingsOfRows rows, std::int64_t* counts) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
  if (row >= rows.rows) return;
  std::int64_t count = 0;
  const std::int64_t end = rows.offsets[row + 1];
  for (std::int64_t i = rows.offsets[row] + threadIdx.x % 32; i < end; i += 32) {
    count += rows.ratings[i].value != 0 ? 1 : 0;
  }
  for (int lane = 16; lane > 0; lane /= 2) count += __shfl_xor_sync(kAll, count, lane);
  if (threadIdx.x % 32 == 0) counts[row] = count;
}

// A warp a row, 32 ratings at a time in their order.
__global__ void __launch_bounds__(kThreads)
    copy_kernel(const cuda::RatingsOfRows rows, const std::int64_t* offsets, RowRating* to) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
  if (row >= rows.rows) return;
  const unsigned lane = threadIdx.x % 32;
  const std::int64_t end = rows.offsets[row + 1];
  std::int64_t next = offsets[row];
  for (std::int64_t first = rows.offsets[row]; first < end; first += 32) {
    const std::int64_t i = first + lane;
    const RowRating rating = i < end ? rows.ratings[i] : RowRating{0, 0};
    const unsigned kept = __ballot_sync(kAll, rating.value != 0);
    if (rating.value != 0) to[next + __popc(kept & ((1U << lane) - 1))] = rating;
    next += __popc(kept);
  }
}

__global__ void __launch_bounds__(kThreads)
    reg_kernel(const std::int64_t* offsets, std::int64_t rows, std::int64_t others,
               const ImplicitLoss loss, float* regs) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  regs[row] = static_cast<float>(loss.row_reg(offsets[row + 1] - offsets[row], others));
}

struct SplitPairs : cuda::RowVisitor {
  double alpha;
  std::int32_t* others;
  float* weights;

  __device__ void operator()(std::int64_t, std::int64_t i, RowRating rating) {
    others[i] = rating.other;
    weights[i] = pair_weight(rating.value, alpha);
  }
};

}  // namespace

DevicePairs::DevicePairs(const Ratings& train, const ImplicitLoss& loss,
                         cuda::DeviceRatings& ratings, cudaStream_t stream)
    : ratings_(&ratings), stream_(stream), alpha_(loss.alpha) {
  const Seen seen = look(ratings.rows(), loss.alpha, stream);
  if (seen.first_bad != ~0ULL) {
    refuse_pair(train, static_cast<std::int64_t>(seen.first_bad), loss);
  }
  count_ = static_cast<std::int64_t>(seen.observed);
  if (count_ == 0) return;
  // Rounding keeps their order.
  weights_ = {pair_weight(std::bit_cast<float>(seen.least), alpha_),
              pair_weight(std::bit_cast<float>(seen.most), alpha_)};
}

DevicePairs::DevicePairs(const Ratings& train, const ImplicitLoss& loss,
                         cuda::StreamedRatings& ratings, cudaStream_t stream)
    : streamed_(&ratings), stream_(stream), alpha_(loss.alpha) {
  Seen all;
  ratings.for_pieces(cuda::RowsOf::users, stream, [&](const cuda::StreamedRatings::Piece& piece) {
    const Seen seen =
        look({nullptr, piece.memory, piece.rows.rows, piece.rows.nnz}, loss.alpha, stream);
    if (seen.first_bad != ~0ULL) {
      refuse_pair(train, piece.rows.first + static_cast<std::int64_t>(seen.first_bad), loss);
    }
    add(all, seen);
  });
  count_ = static_cast<std::int64_t>(all.observed);
  if (count_ < ratings.nnz()) {
    fail(ErrorKind::data,
         "memory \"streamed\": found {} pairs with the value 0, expected none; leave them out of "
         "the "
         "data set, or use memory \"resident\"",
         ratings.nnz() - count_);
  }
  if (count_ == 0) return;
  weights_ = {pair_weight(std::bit_cast<float>(all.least), alpha_),
              pair_weight(std::bit_cast<float>(all.most), alpha_)};
}

namespace {

// For all ranks.
Seen look_together(const Seen& own, Communicator& ranks) {
  std::vector<Seen> of_rank(ranks.size());
  of_rank[ranks.rank()] = own;
  PartOffsets one_each;
  for (int rank = 0; rank <= ranks.size(); ++rank) one_each.push_back(rank);
  ranks.all_gather(std::span(of_rank), one_each);
  Seen all;
  for (const Seen& one : of_rank) add(all, one);
  return all;
}

}  // namespace

DevicePairs::DevicePairs(const Ratings& train, const ImplicitLoss& loss, cuda::RankRatings& ratings,
                         cudaStream_t stream)
    : share_(&ratings), stream_(stream), alpha_(loss.alpha) {
  const Seen own = look(ratings.rows(), loss.alpha, stream);
  Communicator& ranks = ratings.devices().host();
  ranks.agree([&] {
    if (own.first_bad == ~0ULL) return;
    const std::int64_t first = train.user_offsets()[ratings.own_users().begin];
    refuse_pair(train, first + static_cast<std::int64_t>(own.first_bad), loss);
  });
  const Seen seen = look_together(own, ranks);
  count_ = static_cast<std::int64_t>(seen.observed);
  if (count_ == 0) return;
  weights_ = {pair_weight(std::bit_cast<float>(seen.least), alpha_),
              pair_weight(std::bit_cast<float>(seen.most), alpha_)};
}

cuda::RatingsOfRows DevicePairs::rows() const {
  if (streamed_ != nullptr) return streamed_->rows();
  return share_ != nullptr ? share_->rows() : ratings_->rows();
}

cuda::RatingsOfRows DevicePairs::columns() {
  if (streamed_ != nullptr) return streamed_->columns(stream_);
  return share_ != nullptr ? share_->columns(stream_) : ratings_->columns(stream_);
}

void DevicePairs::release_rows() {
  if (streamed_ != nullptr) return;
  share_ != nullptr ? share_->release_rows() : ratings_->release_rows();
}

void DevicePairs::release_columns() {
  if (streamed_ != nullptr) return;
  share_ != nullptr ? share_->release_columns() : ratings_->release_columns();
}

std::int64_t DevicePairs::all_ratings() const {
  if (streamed_ != nullptr) return streamed_->nnz();
  return share_ != nullptr ? share_->nnz() : ratings_->nnz();
}

cuda::RatingsOfRows DevicePairs::observed(const cuda::RatingsOfRows& all, Copy& copy) {
  if (all_observed()) return all;
  const unsigned blocks = cuda::blocks_for(all.rows, kThreads / 32);
  copy.offsets = cuda::zeros<std::int64_t>(all.rows + 1, stream_);  // a sum beyond the last row
  std::int64_t count = 0;
  if (all.rows > 0) {
    count_kernel<<<blocks, kThreads, 0, stream_>>>(all, copy.offsets.data());
    MF_CUDA_LAUNCHED("ials count");
    cuda::exclusive_sums(copy.offsets.data(), copy.offsets.data(), all.rows + 1, stream_);
    cuda::download(View<std::int64_t>(&count, 1), copy.offsets.data() + all.rows, stream_);
    copy.ratings = cuda::DeviceBuffer<RowRating>(count);
    copy_kernel<<<blocks, kThreads, 0, stream_>>>(all, copy.offsets.data(), copy.ratings.data());
    MF_CUDA_LAUNCHED("ials copy");
  }
  return {copy.offsets.data(), copy.ratings.data(), all.rows, count};
}

cuda::RatingsOfRows DevicePairs::users() {
  const cuda::RatingsOfRows pairs = observed(rows(), users_);
  if (!all_observed()) release_rows();
  return pairs;
}

cuda::RatingsOfRows DevicePairs::items() {
  const cuda::RatingsOfRows pairs = observed(columns(), items_);
  if (!all_observed()) release_columns();
  return pairs;
}

std::int64_t DevicePairs::rated_rows() {
  const auto of = [&](const cuda::RatingsOfRows& all, const Copy& copy) {
    return cuda::count_rated_rows(all_observed() ? all.offsets : copy.offsets.data(), all.rows,
                                  stream_);
  };
  if (streamed_ != nullptr) return of(rows(), users_) + of(columns(), items_);
  if (share_ != nullptr) {
    auto rated = static_cast<double>(of(rows(), users_) + of(columns(), items_));
    share_->devices().host().all_sum(std::span(&rated, 1));
    return static_cast<std::int64_t>(rated);
  }
  if (all_observed()) return ratings_->rating_users(stream_) + ratings_->rated_items(stream_);
  return cuda::count_rated_rows(users_.offsets.data(), ratings_->n_users(), stream_) +
         cuda::count_rated_rows(items_.offsets.data(), ratings_->n_items(), stream_);
}

void DevicePairs::release_users() {
  users_.ratings.reset();
  release_rows();
}

void DevicePairs::release_items() {
  items_.ratings.reset();
  release_columns();
}

void fill_row_regs(const std::int64_t* offsets, std::int64_t rows, std::int64_t others,
                   const ImplicitLoss& loss, float* regs, cudaStream_t stream) {
  if (rows == 0) return;
  reg_kernel<<<cuda::blocks_for(rows, kThreads), kThreads, 0, stream>>>(offsets, rows, others, loss,
                                                                        regs);
  MF_CUDA_LAUNCHED("ials row_regs");
}

als::SplitSide split_pairs(const cuda::RatingsOfRows& rows, double alpha, cudaStream_t stream) {
  als::SplitSide made{cuda::DeviceBuffer<std::int32_t>(rows.nnz),
                      cuda::DeviceBuffer<float>(rows.nnz), rows.offsets, rows.rows};
  cuda::walk_ratings(rows, SplitPairs{{}, alpha, made.others.data(), made.values.data()},
                     "ials split_pairs", stream);
  return made;
}

als::SplitSides split_sides(DevicePairs& pairs, cudaStream_t stream) {
  als::SplitSides made;
  made.items = split_pairs(pairs.items(), pairs.alpha(), stream);
  pairs.release_items();
  made.users = split_pairs(pairs.users(), pairs.alpha(), stream);
  pairs.release_users();
  return made;
}

}  // namespace mf::ials
