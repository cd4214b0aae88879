// A thread a user cuts, one sort puts the chunks in order, a thread a chunk bundles. Bytes: about
// 70 a chunk; 24 a rating for the shuffle, of which 8 are gathered within the user's row.
#include "algorithms/sgd_tiled/device_tiles.hpp"

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/scan_sort.cuh"
#include "algorithms/sgd_tiled/rule.hpp"
#include "base/error.hpp"

namespace mf::sgd_tiled {
namespace {

constexpr int kThreads = 256;

__device__ std::int64_t thread_number() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

// pieces[users] is 0, so that its sum is the total.
__global__ void count_kernel(const cuda::RatingsOfRows users, int longest, std::int64_t* pieces) {
  const std::int64_t user = thread_number();
  if (user > users.rows) return;
  pieces[user] = user == users.rows
                     ? 0
                     : pieces_of_user(users.offsets[user + 1] - users.offsets[user], longest);
}

__global__ void cut_kernel(const cuda::RatingsOfRows users, int longest, std::uint64_t seed,
                           const std::int64_t* first_piece, Chunk* chunks, std::uint64_t* keys,
                           std::uint32_t* numbers) {
  const std::int64_t user = thread_number();
  if (user >= users.rows) return;
  const std::int64_t begin = users.offsets[user];
  const std::int64_t count = users.offsets[user + 1] - begin;
  const std::int64_t pieces = first_piece[user + 1] - first_piece[user];
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t at = first_piece[user] + piece;
    const Chunk chunk = chunk_of_user(static_cast<std::int32_t>(user), begin, count, piece, pieces);
    chunks[at] = chunk;
    keys[at] = chunk_key(seed, chunk, piece, longest);
    numbers[at] = static_cast<std::uint32_t>(at);
  }
}

__global__ void bundle_kernel(const Chunk* chunks, const std::uint32_t* numbers, std::int64_t count,
                              const Permutation order, int bundle_size, std::int64_t bundles,
                              Chunk* out) {
  const std::int64_t at = thread_number();
  if (at >= bundles * bundle_size) return;
  const std::int64_t from = order(at / bundle_size) * bundle_size + at % bundle_size;
  out[at] = from < count ? chunks[numbers[from]] : Chunk{0, 0, 0};
}

// A warp a user: position i takes the rating (a i + b) mod count.
__global__ void __launch_bounds__(kThreads)
    shuffle_kernel(const cuda::RatingsOfRows users, const std::uint8_t* exponents, RowRating* to,
                   std::uint64_t seed) {
  const std::int64_t user = thread_number() / 32;
  if (user >= users.rows) return;
  const std::int64_t begin = users.offsets[user];
  const std::int64_t count = users.offsets[user + 1] - begin;
  const Order order = row_order(count, seed, user);
  for (std::int64_t i = threadIdx.x % 32; i < count; i += 32) {
    const RowRating rating = users.ratings[begin + (order.multiplier * i + order.shift) % count];
    to[begin + i] = {marked_item(rating.other, exponents[rating.other]), rating.value};
  }
}

std::int64_t read_number(const std::int64_t* from, cudaStream_t stream) {
  std::int64_t number = 0;
  cuda::download(View<std::int64_t>(&number, 1), from, stream);
  return number;
}

}  // namespace

DeviceTiles make_device_tiles(const cuda::RatingsOfRows& users, int longest, int bundle_size,
                              std::uint64_t seed, cudaStream_t stream) {
  DeviceTiles made;
  if (users.nnz == 0) return made;
  cuda::StreamBuffer<std::int64_t> first(users.rows + 1, stream);
  count_kernel<<<cuda::blocks_for(users.rows + 1, kThreads), kThreads, 0, stream>>>(users, longest,
                                                                                    first.data());
  MF_CUDA_LAUNCHED("sgd_tiled count");
  cuda::exclusive_sums(first.data(), first.data(), users.rows + 1, stream);
  const std::int64_t count = read_number(first.data() + users.rows, stream);
  if (count >= std::int64_t{1} << 32) {
    fail(ErrorKind::unsupported, "sgd_tiled: {} chunks of {} ratings, at most 2^32; raise `chunk`",
         count, longest);
  }
  cuda::StreamBuffer<Chunk> chunks(count, stream);
  cuda::StreamBuffer<std::uint64_t> keys(count, stream), other_keys(count, stream);
  cuda::StreamBuffer<std::uint32_t> numbers(count, stream), other_numbers(count, stream);
  cut_kernel<<<cuda::blocks_for(users.rows, kThreads), kThreads, 0, stream>>>(
      users, longest, seed, first.data(), chunks.data(), keys.data(), numbers.data());
  MF_CUDA_LAUNCHED("sgd_tiled cut");
  cub::DoubleBuffer<std::uint64_t> by(keys.data(), other_keys.data());
  cub::DoubleBuffer<std::uint32_t> order(numbers.data(), other_numbers.data());
  cuda::sort_pairs(by, order, count, 32 + cuda::bits_of(longest), stream);
  made.bundles = (count + bundle_size - 1) / bundle_size;
  made.chunks = cuda::DeviceBuffer<Chunk>(made.bundles * bundle_size);
  bundle_kernel<<<cuda::blocks_for(made.bundles * bundle_size, kThreads), kThreads, 0, stream>>>(
      chunks.data(), order.Current(), count, bundle_order(made.bundles, seed), bundle_size,
      made.bundles, made.chunks.data());
  MF_CUDA_LAUNCHED("sgd_tiled bundle");
  return made;
}

void launch_shuffle(const cuda::RatingsOfRows& users, const std::uint8_t* exponents, RowRating* to,
                    std::uint64_t seed, cudaStream_t stream) {
  if (users.rows == 0) return;
  shuffle_kernel<<<cuda::blocks_for(users.rows, kThreads / 32), kThreads, 0, stream>>>(
      users, exponents, to, seed);
  MF_CUDA_LAUNCHED("sgd_tiled shuffle");
}

}  // namespace mf::sgd_tiled
