#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/row_shape.hpp"
#include "algorithms/core/cuda/row_words.cuh"
#include "algorithms/sgd_tiled/kernels.hpp"
#include "algorithms/sgd_tiled/rule.hpp"

namespace mf::sgd_tiled {
namespace {

using cuda::Rounder;
using cuda::RowShare;

constexpr int kThreads = 128;
constexpr int kBatch = 4;  // ratings of a chunk whose rows of Q are fetched together

// kBatch ratings and their rows of Q. All lanes of a group read the same ratings: one transaction,
// from the first-level cache but for the first of a line.
template <class Share, bool kBiased>
struct Batch {
  std::int32_t item[kBatch];  // negative: none
  bool writes[kBatch];
  float value[kBatch];
  Share q[kBatch];
  float item_bias[kBatch];

  __device__ void fetch(const Arrays& a, const Chunk& chunk, int first, std::uint32_t epoch,
                        int member, int words) {
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      item[i] = -1;
      writes[i] = false;
      if (first + i < chunk.count) {
        const int2 two = __ldg(reinterpret_cast<const int2*>(a.entries) + chunk.begin + first + i);
        item[i] = item_of(two.x);
        writes[i] = writes_item(two.x, chunk.begin + first + i, epoch);
        value[i] = __int_as_float(two.y);
      }
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const std::int32_t row = max(item[i], 0);
      q[i].load(a.q, row, member, words);
      if (kBiased) item_bias[i] = __ldcg(a.item_bias + row);
    }
  }
};

// A warp takes a bundle at a time: 32 / kLanes chunks, a group of kLanes lanes each. The user's row
// stays in fp32 registers over its chunk; rows of Q come from the second-level cache a batch before
// they are needed, and go back. Groups whose chunk is shorter than the longest of the bundle go on
// with updates that change nothing, so that the lanes of a warp stay together.
template <class T, int kLanes, int kWords, bool kBiased>
__global__ void __launch_bounds__(kThreads)
    pass_kernel(const Arrays a, const Step step, const Order order, std::uint32_t seed,
                std::uint32_t epoch, bool stochastic) {
  using Share = RowShare<T, kLanes, kWords>;
  constexpr int kValues = Share::kValues;
  constexpr int kGroups = 32 / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int member = lane % kLanes;
  const int group = lane / kLanes;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t warps = std::int64_t{gridDim.x} * blockDim.x / 32;
  const int words = Share::words(a.factors);
  Rounder rounder{seed + 0x9E3779B9U * static_cast<std::uint32_t>(thread), stochastic};

  for (std::int64_t slot = thread / 32; slot < a.bundles; slot += warps) {
    const std::int64_t bundle = (order.multiplier * slot + order.shift) % a.bundles;
    const Chunk chunk = a.chunks[bundle * kGroups + group];
    const int longest = cuda::warp_max(chunk.count);
    Batch<Share, kBiased> first;
    Batch<Share, kBiased> second;
    Share row;
    row.load(a.p, chunk.user, member, words);
    float user_bias = kBiased ? a.user_bias[chunk.user] : 0.0F;
    first.fetch(a, chunk, 0, epoch, member, words);
    float p[kValues];
    row.unpack(p);

    const auto update = [&](const Batch<Share, kBiased>& batch, int i) {
      float q[kValues];
      batch.q[i].unpack(q);
      float sums[2] = {};
#pragma unroll
      for (int k = 0; k < kValues; ++k) sums[k % 2] = fmaf(p[k], q[k], sums[k % 2]);
      const float dot = cuda::sum_over_lanes<kLanes>(sums[0] + sums[1]);
      const bool valid = batch.item[i] >= 0;
      const float c = kBiased ? batch.item_bias[i] : 0.0F;
      const float error = rating_error<kBiased>(step.mean, batch.value[i], user_bias, c, dot);
      const float gain = valid ? step.rate * error : 0.0F;
      const float keep_p = valid ? step.keep.p : 1.0F;
#pragma unroll
      for (int k = 0; k < kValues; ++k) {
        const float p_old = p[k];
        p[k] = stepped(p_old, q[k], gain, keep_p);
        q[k] = stepped(q[k], p_old, gain, step.keep.q);
      }
      if (batch.writes[i]) Share::store(a.q, batch.item[i], member, words, q, rounder);
      if (kBiased && valid) {
        user_bias = stepped(user_bias, 1.0F, gain, step.keep.user_bias);
        if (member == 0 && batch.writes[i]) {
          __stcg(a.item_bias + batch.item[i], stepped(c, 1.0F, gain, step.keep.item_bias));
        }
      }
    };
    const auto turn = [&](const Batch<Share, kBiased>& now, Batch<Share, kBiased>& next, int done) {
      next.fetch(a, chunk, done + kBatch, epoch, member, words);
#pragma unroll
      for (int i = 0; i < kBatch; ++i) update(now, i);
    };
#pragma unroll 1
    for (int done = 0; done < longest; done += 2 * kBatch) {
      turn(first, second, done);
      if (done + kBatch < longest) turn(second, first, done + kBatch);
    }
    if (chunk.count > 0) {
      Share::store(a.p, chunk.user, member, words, p, rounder);
      if (kBiased && member == 0) a.user_bias[chunk.user] = user_bias;
    }
  }
}

struct Pass {
  Arrays arrays;
  Step step;
  Order order;
  std::uint32_t seed;
  std::uint32_t epoch;
  bool stochastic;
  cudaStream_t stream;
};

template <class T, int kLanes, int kWords, bool kBiased>
void launch_kernel(const Pass& pass) {
  const auto kernel = pass_kernel<T, kLanes, kWords, kBiased>;
  static const std::int64_t resident = cuda::resident_blocks(kernel, kThreads);
  const std::int64_t needed = (pass.arrays.bundles + kThreads / 32 - 1) / (kThreads / 32);
  const std::int64_t wanted = std::max<std::int64_t>(1, pass.arrays.workers * kLanes / kThreads);
  const auto blocks = static_cast<unsigned>(std::min({resident, needed, wanted}));
  if (blocks == 0) return;
  kernel<<<blocks, kThreads, 0, pass.stream>>>(pass.arrays, pass.step, pass.order, pass.seed,
                                               pass.epoch, pass.stochastic);
  MF_CUDA_LAUNCHED("sgd_tiled pass");
}

// A warp a user: position i takes the rating (a i + b) mod count.
__global__ void shuffle_kernel(const Entry* from, Entry* to, const std::int64_t* offsets,
                               std::int32_t n_users, std::uint64_t seed) {
  const std::int64_t user = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (user >= n_users) return;
  const std::int64_t begin = offsets[user];
  const std::int64_t count = offsets[user + 1] - begin;
  const Order order = row_order(count, seed, user);
  for (std::int64_t i = threadIdx.x % 32; i < count; i += 32) {
    to[begin + i] = from[begin + (order.multiplier * i + order.shift) % count];
  }
}

}  // namespace

int bundle_size(const Settings& settings) {
  const std::int64_t words = storage_words(settings.storage, settings.factors);
  return cuda::with_group_row<float>(words,
                                     [](auto shape) { return 32 / decltype(shape)::kLanes; });
}

void launch_pass(const Settings& settings, const Arrays& arrays, const Step& step,
                 const Order& order, std::uint32_t seed, std::uint32_t epoch, cudaStream_t stream) {
  const Pass pass{arrays, step, order, seed, epoch, settings.stochastic, stream};
  const std::int64_t words = storage_words(settings.storage, settings.factors);
  cuda::with_storage_type(settings.storage, [&]<class T>() {
    cuda::with_group_row<T>(words, [&](auto shape) {
      using Shape = decltype(shape);
      if (settings.model == ModelKind::biased) {
        launch_kernel<T, Shape::kLanes, Shape::kWords, true>(pass);
      } else {
        launch_kernel<T, Shape::kLanes, Shape::kWords, false>(pass);
      }
    });
  });
}

void launch_shuffle(const Entry* from, Entry* to, const std::int64_t* user_offsets,
                    std::int32_t n_users, std::uint64_t seed, cudaStream_t stream) {
  if (n_users == 0) return;
  const unsigned blocks = static_cast<unsigned>((std::int64_t{n_users} * 32 + 127) / 128);
  shuffle_kernel<<<blocks, 128, 0, stream>>>(from, to, user_offsets, n_users, seed);
  MF_CUDA_LAUNCHED("sgd_tiled shuffle");
}

}  // namespace mf::sgd_tiled
