#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/row_words.cuh"
#include "algorithms/sgd_tiled/kernels.hpp"
#include "algorithms/sgd_tiled/rule.hpp"

namespace mf::sgd_tiled {
namespace {

using cuda::Rounder;
using cuda::RowShare;

constexpr unsigned kFullWarp = 0xffffffffU;
constexpr int kThreads = 128;
constexpr int kAhead = 4;  // rows of Q on their way

__device__ Entry load_entry(const Entry* entries, std::int64_t at, bool valid) {
  if (!valid) return {-1, 0.0F};
  const int2 two = __ldcs(reinterpret_cast<const int2*>(entries) + at);
  return {two.x, __int_as_float(two.y)};
}

// A warp takes a bundle at a time: 32 / kLanes chunks, a group of kLanes lanes each. The user's row
// stays in fp32 registers over its chunk; rows of Q come from the second-level cache, kAhead
// ratings before they are needed, and go back. The ratings of a chunk lie in its lanes, kLanes at a
// time, and the next ones with them.
template <class T, int kLanes, int kWords, bool kBiased>
__global__ void __launch_bounds__(kThreads)
    pass_kernel(const Arrays a, const Step step, const Order order, std::uint32_t seed,
                bool stochastic) {
  using Share = RowShare<T, kLanes, kWords>;
  constexpr int kValues = Share::kValues;
  constexpr int kGroups = 32 / kLanes;
  static_assert(kLanes % kAhead == 0);
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
    const int longest = __reduce_max_sync(kFullWarp, chunk.count);
    const auto entry = [&](int e) {
      return load_entry(a.entries, chunk.begin + e, e < chunk.count);
    };
    Entry own = entry(member);
    Entry next = entry(kLanes + member);
    Share row;
    row.load(a.p, chunk.user, member, words);
    float user_bias = kBiased ? a.user_bias[chunk.user] : 0.0F;

    Share ahead[kAhead];
    float item_bias[kAhead];
    const auto fetch = [&](std::int32_t item, int place) {
      if (item < 0) return;
      ahead[place].load(a.q, item, member, words);
      if (kBiased) item_bias[place] = __ldcg(a.item_bias + item);
    };
#pragma unroll
    for (int e = 0; e < kAhead; ++e) fetch(__shfl_sync(kFullWarp, own.item, e, kLanes), e);
    float p[kValues];
    row.unpack(p);

    for (int done = 0; done < longest; done += kLanes) {
#pragma unroll 1
      for (int base = 0; base < kLanes; base += kAhead) {
        if (done + base >= longest) break;
        const bool last = base + kAhead == kLanes;
#pragma unroll
        for (int place = 0; place < kAhead; ++place) {
          const int e = base + place;
          const std::int32_t item = __shfl_sync(kFullWarp, own.item, e, kLanes);
          const float value = __shfl_sync(kFullWarp, own.value, e, kLanes);
          float q[kValues];
          ahead[place].unpack(q);
          const float c = kBiased ? item_bias[place] : 0.0F;
          fetch(__shfl_sync(kFullWarp, last ? next.item : own.item, e + kAhead, kLanes), place);
          float dot = 0;
#pragma unroll
          for (int k = 0; k < kValues; ++k) dot = fmaf(p[k], q[k], dot);
          dot = cuda::sum_over_lanes<kLanes>(dot);
          if (item < 0) continue;
          const float gain = step.rate * rating_error<kBiased>(step.mean, value, user_bias, c, dot);
#pragma unroll
          for (int k = 0; k < kValues; ++k) {
            const float p_old = p[k];
            p[k] = stepped(p_old, q[k], gain, step.keep_p);
            q[k] = stepped(q[k], p_old, gain, step.keep_q);
          }
          Share::store(a.q, item, member, words, q, rounder);
          if (kBiased) {
            user_bias = stepped(user_bias, 1.0F, gain, step.keep_user_bias);
            if (member == 0) {
              __stcg(a.item_bias + item, stepped(c, 1.0F, gain, step.keep_item_bias));
            }
          }
        }
      }
      own = next;
      next = entry(done + 2 * kLanes + member);
    }
    if (chunk.count > 0) {
      Share::store(a.p, chunk.user, member, words, p, rounder);
      if (kBiased && member == 0) a.user_bias[chunk.user] = user_bias;
    }
  }
}

template <class Kernel>
unsigned resident_blocks(Kernel kernel) {
  int device = 0;
  int processors = 0;
  int blocks = 0;
  MF_CUDA(cudaGetDevice(&device));
  MF_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  MF_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kThreads, 0));
  return static_cast<unsigned>(std::max(1, blocks) * processors);
}

struct Pass {
  Arrays arrays;
  Step step;
  Order order;
  std::uint32_t seed;
  bool stochastic;
  cudaStream_t stream;
};

template <class T, int kLanes, int kWords, bool kBiased>
void launch_kernel(const Pass& pass) {
  const auto kernel = pass_kernel<T, kLanes, kWords, kBiased>;
  static const unsigned resident = resident_blocks(kernel);
  const std::int64_t needed = (pass.arrays.bundles + kThreads / 32 - 1) / (kThreads / 32);
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(resident, needed));
  if (blocks == 0) return;
  kernel<<<blocks, kThreads, 0, pass.stream>>>(pass.arrays, pass.step, pass.order, pass.seed,
                                               pass.stochastic);
  MF_CUDA_LAUNCHED("sgd_tiled pass");
}

template <class T, bool kBiased>
void launch_by_length(const Pass& pass, std::int64_t words) {
  if (words <= 4) return launch_kernel<T, 4, 1, kBiased>(pass);
  if (words <= 8) return launch_kernel<T, 8, 1, kBiased>(pass);
  if (words <= 16) return launch_kernel<T, 16, 1, kBiased>(pass);
  if (words <= 32) return launch_kernel<T, 32, 1, kBiased>(pass);
  if (words <= 64) return launch_kernel<T, 32, 2, kBiased>(pass);
  if constexpr (sizeof(T) == 4) launch_kernel<T, 32, 4, kBiased>(pass);
}

template <class T>
void launch_model(const Settings& settings, const Pass& pass) {
  const std::int64_t words = storage_stride(settings.storage, settings.factors) / cuda::kWordValues<T>;
  if (settings.model == ModelKind::biased) {
    launch_by_length<T, true>(pass, words);
  } else {
    launch_by_length<T, false>(pass, words);
  }
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
  const std::int64_t words = storage_stride(settings.storage, settings.factors) *
                             storage_bytes(settings.storage) / 16;
  if (words <= 4) return 8;
  if (words <= 8) return 4;
  return words <= 16 ? 2 : 1;
}

void launch_pass(const Settings& settings, const Arrays& arrays, const Step& step,
                 const Order& order, std::uint32_t seed, cudaStream_t stream) {
  const Pass pass{arrays, step, order, seed, settings.stochastic, stream};
  switch (settings.storage) {
    case Storage::fp32:
      return launch_model<float>(settings, pass);
    case Storage::fp16:
      return launch_model<__half>(settings, pass);
    case Storage::bf16:
      return launch_model<__nv_bfloat16>(settings, pass);
  }
}

void launch_shuffle(const Entry* from, Entry* to, const std::int64_t* user_offsets,
                    std::int32_t n_users, std::uint64_t seed, cudaStream_t stream) {
  if (n_users == 0) return;
  const unsigned blocks = static_cast<unsigned>((std::int64_t{n_users} * 32 + 127) / 128);
  shuffle_kernel<<<blocks, 128, 0, stream>>>(from, to, user_offsets, n_users, seed);
  MF_CUDA_LAUNCHED("sgd_tiled shuffle");
}

}  // namespace mf::sgd_tiled
