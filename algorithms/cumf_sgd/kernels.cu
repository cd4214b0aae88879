#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/row_words.cuh"
#include "algorithms/cumf_sgd/kernels.hpp"

namespace mf::cumf_sgd {
namespace {

using cuda::Rounder;
using cuda::RowShare;

constexpr unsigned kFullWarp = 0xffffffffU;
constexpr int kThreads = 128;
constexpr int kAhead = 2;  // pairs of rows on their way

struct Triple {
  std::int32_t user;  // negative: none
  std::int32_t item;
  float value;
};

__device__ Triple load_triple(const Arrays& a, std::int64_t at, bool valid) {
  if (!valid) return {-1, -1, 0.0F};
  return {__ldcs(a.users + at), __ldcs(a.items + at), __ldcs(a.values + at)};
}

__device__ Triple of_lane(const Triple& own, int lane, int lanes) {
  return {__shfl_sync(kFullWarp, own.user, lane, lanes),
          __shfl_sync(kFullWarp, own.item, lane, lanes),
          __shfl_sync(kFullWarp, own.value, lane, lanes)};
}

// One update by a group of lanes; every lane of the warp takes part in the sum.
template <class Share, int kLanes>
__device__ void update(const Arrays& a, const Step& step, const Triple& rating, const Share& p_raw,
                       const Share& q_raw, int member, int words, Rounder& rounder) {
  float p[Share::kValues];
  float q[Share::kValues];
  p_raw.unpack(p);
  q_raw.unpack(q);
  float dot = 0;
#pragma unroll
  for (int k = 0; k < Share::kValues; ++k) dot = fmaf(p[k], q[k], dot);
  dot = cuda::sum_over_lanes<kLanes>(dot);
  if (rating.user < 0) return;
  const float gain = step.rate * (rating.value - dot);
#pragma unroll
  for (int k = 0; k < Share::kValues; ++k) {
    const float p_old = p[k];
    p[k] = fmaf(gain, q[k], step.keep_p * p_old);
    q[k] = fmaf(gain, p_old, step.keep_q * q[k]);
  }
  Share::store(a.p, rating.user, member, words, p, rounder);
  Share::store(a.q, rating.item, member, words, q, rounder);
}

// Where run `slot` of the pass begins.
__device__ std::int64_t run_begin(const RunOrder& order, std::int64_t slot, std::int64_t nnz) {
  if (order.replacement) {
    return static_cast<std::int64_t>(draw(order.seed, order.epoch, static_cast<std::uint64_t>(slot),
                                          static_cast<std::uint64_t>(nnz - order.run_length + 1)));
  }
  return static_cast<std::int64_t>(order.permutation(static_cast<std::uint64_t>(slot))) *
         order.run_length;
}

// A group of kLanes lanes takes a run at a time, its ratings one after another; rows are fetched
// kAhead ratings before they are needed.
template <class T, int kLanes, int kWords, int kUnits>
__global__ void __launch_bounds__(kThreads)
    hogwild_kernel(const Arrays a, const Step step, const RunOrder order, std::uint32_t seed,
                   bool stochastic) {
  using Share = RowShare<T, kLanes, kWords, kUnits>;
  constexpr int kGroups = 32 / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int member = lane % kLanes;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t workers = std::int64_t{gridDim.x} * blockDim.x / 32 * kGroups;
  const std::int64_t first = thread / 32 * kGroups;
  const int words = Share::words(a.factors);
  Rounder rounder{seed + 0x9E3779B9U * static_cast<std::uint32_t>(thread), stochastic};

  for (std::int64_t base = first; base < order.runs; base += workers) {
    const std::int64_t slot = base + lane / kLanes;
    const std::int64_t begin = slot < order.runs ? run_begin(order, slot, a.nnz) : a.nnz;
    const auto count = static_cast<int>(min(order.run_length, a.nnz - begin));
    const int longest = __reduce_max_sync(kFullWarp, count);
    Triple own = load_triple(a, begin + member, member < count);
    Triple next = load_triple(a, begin + kLanes + member, kLanes + member < count);
    Share p[kAhead];
    Share q[kAhead];
    const auto fetch = [&](const Triple& rating, int place) {
      if (rating.user < 0) return;
      p[place].load(a.p, rating.user, member, words);
      q[place].load(a.q, rating.item, member, words);
    };
#pragma unroll
    for (int e = 0; e < kAhead; ++e) fetch(of_lane(own, e, kLanes), e);
    for (int done = 0; done < longest; done += kLanes) {
#pragma unroll 1
      for (int e = 0; e < kLanes; e += kAhead) {
        if (done + e >= longest) break;
        const bool last = e + kAhead == kLanes;
#pragma unroll
        for (int place = 0; place < kAhead; ++place) {
          const Share p_now = p[place];
          const Share q_now = q[place];
          fetch(of_lane(last ? next : own, (e + kAhead + place) % kLanes, kLanes), place);
          update<Share, kLanes>(a, step, of_lane(own, e + place, kLanes), p_now, q_now, member,
                                words, rounder);
        }
      }
      own = next;
      const int at = done + 2 * kLanes + member;
      next = load_triple(a, begin + at, at < count);
    }
  }
}

// Rows of P come from memory, and nobody else writes them: asked for a batch ahead.
__device__ void prefetch_row(const void* rows, std::int64_t index, int row_bytes) {
  const char* row = static_cast<const char*>(rows) + index * row_bytes;
  for (int at = 0; at < row_bytes; at += 128) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(row + at));
  }
}

// The next column of a worker: its own random order of the columns.
__device__ std::int64_t column_of(const Permutation& order, std::int64_t turn) {
  return static_cast<std::int64_t>(order(static_cast<std::uint64_t>(turn)));
}

// A warp owns a band of users and walks the columns in its own random order. It takes a column by
// setting its entry, and waits only for the worker that holds that column; holding one at a time,
// no cycle of waiting can arise. All workers are resident. Nobody shares a row: the pass equals
// some serial order.
template <class T, int kWords, int kUnits>
__global__ void __launch_bounds__(kThreads)
    wavefront_kernel(const Arrays a, const Grid grid, const Step step, std::uint32_t seed,
                     bool stochastic, int half_bits) {
  using Share = RowShare<T, 32, kWords, kUnits>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t band = thread / 32;
  if (band >= grid.bands) return;
  const int words = Share::words(a.factors);
  Rounder rounder{seed + 0x9E3779B9U * static_cast<std::uint32_t>(thread), stochastic};
  const Permutation order{static_cast<std::uint64_t>(grid.columns),
                          mixed(grid.seed + static_cast<std::uint64_t>(band) * 0x9e37ULL + seed),
                          half_bits};

  for (std::int64_t turn = 0; turn < grid.columns; ++turn) {
    const std::int64_t column = column_of(order, turn);
    const std::int64_t block = band * grid.columns + column;
    const std::int64_t begin = grid.offsets[block];
    const std::int64_t count = grid.offsets[block + 1] - begin;
    if (count == 0) continue;
    if (lane == 0) {
      while (atomicCAS(grid.busy + column, 0, 1) != 0) __nanosleep(100);
      __threadfence();
    }
    __syncwarp();
    for (std::int64_t done = 0; done < count; done += 32) {
      const Triple own = load_triple(a, begin + done + lane, done + lane < count);
      if (own.user >= 0) prefetch_row(a.p, own.user, words * 4 * kUnits);
      const int here = static_cast<int>(min(std::int64_t{32}, count - done));
      for (int e = 0; e < here; ++e) {
        const Triple rating = of_lane(own, e, 32);
        Share p;
        Share q;
        p.load(a.p, rating.user, lane, words);
        q.load(a.q, rating.item, lane, words);
        update<Share, 32>(a, step, rating, p, q, lane, words, rounder);
        __syncwarp();
      }
    }
    __threadfence();
    __syncwarp();
    if (lane == 0) atomicExch(grid.busy + column, 0);
  }
}

__global__ void permute_kernel(const Arrays in, std::int32_t* users, std::int32_t* items,
                               float* values, const Permutation permutation) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < in.nnz;
       i += step) {
    const auto from = static_cast<std::int64_t>(permutation(static_cast<std::uint64_t>(i)));
    users[i] = in.users[from];
    items[i] = in.items[from];
    values[i] = in.values[from];
  }
}

template <class Kernel>
std::int64_t resident_blocks(Kernel kernel) {
  int device = 0;
  int processors = 0;
  int blocks = 0;
  MF_CUDA(cudaGetDevice(&device));
  MF_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  MF_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kThreads, 0));
  return std::int64_t{std::max(1, blocks)} * processors;
}

struct HogwildPass {
  Arrays arrays;
  Step step;
  RunOrder order;
  std::uint32_t seed;
  bool stochastic;
  cudaStream_t stream;
};

template <class T, int kLanes, int kWords, int kUnits>
void launch_hogwild(const HogwildPass& pass) {
  const auto kernel = hogwild_kernel<T, kLanes, kWords, kUnits>;
  static const std::int64_t resident = resident_blocks(kernel);
  constexpr std::int64_t kRunsOfABlock = kThreads / kLanes;
  const std::int64_t needed = (pass.order.runs + kRunsOfABlock - 1) / kRunsOfABlock;
  const std::int64_t wanted = std::max<std::int64_t>(1, pass.order.workers / kRunsOfABlock);
  const auto blocks = static_cast<unsigned>(std::min({resident, needed, wanted}));
  if (blocks == 0) return;
  kernel<<<blocks, kThreads, 0, pass.stream>>>(pass.arrays, pass.step, pass.order, pass.seed,
                                               pass.stochastic);
  MF_CUDA_LAUNCHED("batch_hogwild");
}

// Lanes that just hold a row in words of 16 bytes.
template <class T>
void launch_groups(const HogwildPass& pass, std::int64_t words) {
  if (words <= 4) return launch_hogwild<T, 4, 1, 4>(pass);
  if (words <= 8) return launch_hogwild<T, 8, 1, 4>(pass);
  if (words <= 16) return launch_hogwild<T, 16, 1, 4>(pass);
  if (words <= 32) return launch_hogwild<T, 32, 1, 4>(pass);
  if (words <= 64) return launch_hogwild<T, 32, 2, 4>(pass);
  if constexpr (sizeof(T) == 4) launch_hogwild<T, 32, 4, 4>(pass);
}

// A warp a row, in words of 8 bytes while they suffice.
template <class T>
void launch_warps(const HogwildPass& pass, std::int64_t words) {
  if (words <= 16) return launch_hogwild<T, 32, 1, 2>(pass);
  if (words <= 32) return launch_hogwild<T, 32, 1, 4>(pass);
  if (words <= 64) return launch_hogwild<T, 32, 2, 4>(pass);
  if constexpr (sizeof(T) == 4) launch_hogwild<T, 32, 4, 4>(pass);
}

template <class T>
void launch_mapping(const Settings& settings, const HogwildPass& pass) {
  const std::int64_t words =
      storage_stride(settings.storage, settings.factors) / cuda::kWordValues<T>;
  if (settings.mapping == Mapping::group) {
    launch_groups<T>(pass, words);
  } else {
    launch_warps<T>(pass, words);
  }
}

// Calls go(kernel) with the wavefront kernel for these rows.
template <class T, class Go>
void with_wavefront(const Settings& settings, Go&& go) {
  const std::int64_t words =
      storage_stride(settings.storage, settings.factors) / cuda::kWordValues<T>;
  if (words <= 16) return go(wavefront_kernel<T, 1, 2>);
  if (words <= 32) return go(wavefront_kernel<T, 1, 4>);
  if (words <= 64) return go(wavefront_kernel<T, 2, 4>);
  if constexpr (sizeof(T) == 4) go(wavefront_kernel<T, 4, 4>);
}

template <class Go>
void with_wavefront(const Settings& settings, Go&& go) {
  switch (settings.storage) {
    case Storage::fp32:
      return with_wavefront<float>(settings, go);
    case Storage::fp16:
      return with_wavefront<__half>(settings, go);
    case Storage::bf16:
      return with_wavefront<__nv_bfloat16>(settings, go);
  }
}

}  // namespace

void launch_batch_hogwild(const Settings& settings, const Arrays& arrays, const Step& step,
                          const RunOrder& order, std::uint32_t seed, cudaStream_t stream) {
  const HogwildPass pass{arrays, step, order, seed, settings.stochastic, stream};
  switch (settings.storage) {
    case Storage::fp32:
      return launch_mapping<float>(settings, pass);
    case Storage::fp16:
      return launch_mapping<__half>(settings, pass);
    case Storage::bf16:
      return launch_mapping<__nv_bfloat16>(settings, pass);
  }
}

void launch_permute(const Arrays& in, std::int32_t* users, std::int32_t* items, float* values,
                    const Permutation& permutation, cudaStream_t stream) {
  if (in.nnz == 0) return;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((in.nnz + 255) / 256, 1 << 16));
  permute_kernel<<<blocks, 256, 0, stream>>>(in, users, items, values, permutation);
  MF_CUDA_LAUNCHED("cumf_sgd permute");
}

std::int64_t resident_workers(const Settings& settings) {
  std::int64_t workers = 0;
  with_wavefront(settings,
                 [&](auto kernel) { workers = resident_blocks(kernel) * (kThreads / 32); });
  return workers;
}

void launch_wavefront(const Settings& settings, const Arrays& arrays, const Grid& grid,
                      const Step& step, std::uint32_t seed, cudaStream_t stream) {
  if (grid.bands == 0) return;
  const auto blocks = static_cast<unsigned>((grid.bands * 32 + kThreads - 1) / kThreads);
  const int half_bits = Permutation::of(grid.columns, 0).half_bits;
  with_wavefront(settings, [&](auto kernel) {
    kernel<<<blocks, kThreads, 0, stream>>>(arrays, grid, step, seed, settings.stochastic,
                                            half_bits);
  });
  MF_CUDA_LAUNCHED("wavefront");
}

}  // namespace mf::cumf_sgd
