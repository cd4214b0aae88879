// The passes of batch_hogwild and wavefront. The update (core/sgd/sgd_rule.hpp), both with old
// values:
//
//   e    = r - p_u . q_i
//   p_u += rate (e q_i - reg_p p_u)      q_i += rate (e p_u - reg_q q_i)
//
// hogwild_kernel. kLanes lanes hold a row of P and one of Q in registers (kWords words of 16 or 8
// bytes each; a warp as published, or as few lanes as just hold a row) and work through a run of
// consecutive shuffled ratings, one after another. A lane loads one of the next kLanes ratings and
// hands it to the others by shuffles; rows are loaded kAhead ratings before they are used; p.q is
// added across the lanes by shuffles.
//
// wavefront_kernel. A warp owns a band of users and takes column after column of items, each by its
// entry of a status array. Lanes, words and sums as above; rows are loaded up to three updates
// ahead (run_block).
//
// An update reads its rating (12 bytes) from device memory, and reads and writes both rows: 4 f
// numbers, 1 KiB at f = 128 in fp16; rows of Q come from the second-level cache if Q fits it. It
// takes 10 f + 2 FLOPs.
#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/row_shape.hpp"
#include "algorithms/core/cuda/ratings/row_words.cuh"
#include "algorithms/cumf_sgd/kernels.hpp"

namespace mf::cumf_sgd {
namespace {

using cuda::Rounder;
using cuda::RowShare;

constexpr unsigned kFullWarp = 0xffffffffU;
constexpr int kThreads = 128;
constexpr int kAhead = 2;  // pairs of rows on their way

using Step = sgd::Step<float>;

// A negative user: no rating.
__device__ Rating load_rating(const Arrays& a, std::int64_t at, bool valid) {
  if (!valid) return {-1, -1, 0.0F};
  return {__ldcs(a.users + at), __ldcs(a.items + at), __ldcs(a.values + at)};
}

__device__ Rating of_lane(const Rating& own, int lane, int lanes) {
  return {__shfl_sync(kFullWarp, own.user, lane, lanes),
          __shfl_sync(kFullWarp, own.item, lane, lanes),
          __shfl_sync(kFullWarp, own.value, lane, lanes)};
}

// One update by a group of lanes, which changes the rows here and in memory. Every lane of the warp
// takes part in the sum.
template <class Share, int kLanes>
__device__ void update(const Arrays& a, const Step& step, const Rating& rating, Share& p_row,
                       Share& q_row, int member, int words, Rounder& rounder) {
  float p[Share::kValues];
  float q[Share::kValues];
  p_row.unpack(p);
  q_row.unpack(q);
  float dot = 0;
#pragma unroll
  for (int k = 0; k < Share::kValues; ++k) dot = fmaf(p[k], q[k], dot);
  dot = cuda::sum_over_lanes<kLanes>(dot);
  if (rating.user < 0) return;
  const float error = sgd::rating_error<false>(step, rating.value, 0.0F, 0.0F, dot);
  const float gain = step.rate * error;
  rounder.expect(gain);
#pragma unroll
  for (int k = 0; k < Share::kValues; ++k) {
    const float p_old = p[k];
    p[k] = sgd::stepped(p_old, q[k], gain, step.shrink_p);
    q[k] = sgd::stepped(q[k], p_old, gain, step.shrink_q);
  }
  p_row.rewrite(a.p, rating.user, member, words, p, rounder);
  q_row.rewrite(a.q, rating.item, member, words, q, rounder);
}

// The start of run `slot` of the pass.
__device__ std::int64_t run_begin(const RunOrder& order, std::int64_t slot, std::int64_t nnz) {
  if (order.replacement) return draw(order.seed, order.epoch, slot, nnz - order.run_length + 1);
  return order.permutation(slot) * order.run_length;
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
    const int longest = cuda::max_over_warp(count);
    Rating own = load_rating(a, begin + member, member < count);
    Rating next = load_rating(a, begin + kLanes + member, kLanes + member < count);
    Share p[kAhead];
    Share q[kAhead];
    const auto fetch = [&](const Rating& rating, int place) {
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
          Share p_now = p[place];
          Share q_now = q[place];
          fetch(of_lane(last ? next : own, (e + kAhead + place) % kLanes, kLanes), place);
          update<Share, kLanes>(a, step, of_lane(own, e + place, kLanes), p_now, q_now, member,
                                words, rounder);
        }
      }
      own = next;
      const int at = done + 2 * kLanes + member;
      next = load_rating(a, begin + at, at < count);
    }
  }
}

// Rows of P come from memory, and nothing else writes them: asked for a batch ahead.
__device__ void prefetch_row(const void* rows, std::int64_t index, int row_bytes) {
  const char* row = static_cast<const char*>(rows) + index * row_bytes;
  for (int at = 0; at < row_bytes; at += 128) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(row + at));
  }
}

// Ratings of a band and a column: one block of the grid.
struct Block {
  std::int32_t column;
  std::int64_t begin;
  std::int64_t count;
};

// The block that a worker comes to in this turn; beyond the last turn, none.
__device__ Block block_of_turn(const Grid& grid, std::int64_t band, const Permutation& order,
                               std::int64_t turn) {
  if (turn >= grid.columns) return {0, 0, 0};
  const auto column = static_cast<std::int32_t>(order(turn));
  const std::int64_t* bounds = grid.offsets + band * grid.columns + column;
  return {column, bounds[0], bounds[1] - bounds[0]};
}

__device__ Block of_lane(const Block& own, int lane) {
  return {__shfl_sync(kFullWarp, own.column, lane), __shfl_sync(kFullWarp, own.begin, lane),
          __shfl_sync(kFullWarp, own.count, lane)};
}

// The ratings [first, first + 32) of a block, one a lane.
__device__ Rating load_of_block(const Arrays& a, const Block& block, std::int64_t first, int lane) {
  const std::int64_t at = first + lane;
  return load_rating(a, block.begin + at, at < block.count);
}

__device__ void take_column(std::int32_t* busy, int lane) {
  if (lane == 0) {
    while (atomicCAS(busy, 0, 1) != 0) __nanosleep(100);
    __threadfence();
  }
  __syncwarp();
}

__device__ void free_column(std::int32_t* busy, int lane) {
  __threadfence();
  __syncwarp();
  if (lane == 0) atomicExch(busy, 0);
}

// The rows of a rating.
template <class Share>
struct Pair {
  Share p = {};
  Share q = {};
};

// The rows as an update left them.
template <class Share>
struct Made {
  std::int32_t user = -1;
  std::int32_t item = -1;
  Pair<Share> rows;
};

// The updates of a block, one after another, by the only warp that has its rows. Rows are fetched
// kDepth - 1 updates ahead; if one of those updates changes a row fetched earlier, its new value is
// used instead: the result equals a serial pass. `own` is the first 32 ratings.
template <class Share, int kDepth>
__device__ void run_block(const Arrays& a, const Step& step, const Block& block, Rating own,
                          int lane, int words, int row_bytes, Rounder& rounder) {
  Pair<Share> fetched[kDepth];
  Made<Share> made[kDepth];  // by the last updates
  const auto fetch = [&](const Rating& rating, Pair<Share>& to) {
    if (rating.user < 0) return;
    to.p.load(a.p, rating.user, lane, words);
    to.q.load(a.q, rating.item, lane, words);
  };
  Rating next = load_of_block(a, block, 32, lane);
#pragma unroll
  for (int e = 0; e < kDepth; ++e) fetch(of_lane(own, e, 32), fetched[e]);
  for (std::int64_t done = 0; done < block.count; done += 32) {
#pragma unroll 1
    for (int e = 0; e < 32; e += kDepth) {
      if (done + e >= block.count) break;
      if (e == 16 && next.user >= 0) prefetch_row(a.p, next.user, row_bytes);
      const bool last = e + kDepth == 32;
#pragma unroll
      for (int place = 0; place < kDepth; ++place) {
        const Rating rating = of_lane(own, e + place, 32);
        Pair<Share> rows = fetched[place];
#pragma unroll
        for (int back = kDepth - 1; back > 0; --back) {  // the latest counts
          const Made<Share>& before = made[(place + kDepth - back) % kDepth];
          if (before.user == rating.user) rows.p = before.rows.p;
          if (before.item == rating.item) rows.q = before.rows.q;
        }
        update<Share, 32>(a, step, rating, rows.p, rows.q, lane, words, rounder);
        made[place] = {rating.user, rating.item, rows};
        fetch(of_lane(last ? next : own, (e + kDepth + place) % 32, 32), fetched[place]);
      }
    }
    own = next;
    next = load_of_block(a, block, done + 64, lane);
  }
}

// A warp owns a band of users and walks the columns in its own random order. It takes a column by
// setting its entry, and waits only for the worker that holds that column; holding one at a time,
// no cycle of waiting can arise. All workers are resident. No row is shared: the pass equals some
// serial order. A lane each finds the places of the next 32 blocks; the next block's ratings, and
// its rows of P, which nothing else touches, are fetched while this one is worked on.
template <class T, int kWords, int kUnits>
__global__ void __launch_bounds__(kThreads)
    wavefront_kernel(const Arrays a, const Grid grid, const Step step, std::uint32_t seed,
                     bool stochastic, int half_bits) {
  using Share = RowShare<T, 32, kWords, kUnits>;
  constexpr int kDepth = kWords * kUnits <= 4 ? 4 : 2;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t band = thread / 32;
  if (band >= grid.bands) return;
  const int words = Share::words(a.factors);
  const int row_bytes = words * 4 * kUnits;
  Rounder rounder{seed + 0x9E3779B9U * static_cast<std::uint32_t>(thread), stochastic};
  const Permutation order{static_cast<std::uint64_t>(grid.columns),
                          walk_seed(grid.seed, band, seed), half_bits};

  for (std::int64_t turn = 0; turn < grid.columns; turn += 32) {
    const Block mine = block_of_turn(grid, band, order, turn + lane);
    Block block = of_lane(mine, 0);
    Rating own = load_of_block(a, block, 0, lane);
#pragma unroll 1
    for (int k = 0; k < 32; ++k) {
      if (own.user >= 0) prefetch_row(a.p, own.user, row_bytes);
      Block next = of_lane(mine, (k + 1) % 32);
      if (k == 31) next.count = 0;
      const Rating coming = load_of_block(a, next, 0, lane);
      if (block.count > 0) {
        take_column(grid.busy + block.column, lane);
        run_block<Share, kDepth>(a, step, block, own, lane, words, row_bytes, rounder);
        free_column(grid.busy + block.column, lane);
      }
      block = next;
      own = coming;
    }
  }
}

__global__ void permute_kernel(const cuda::RatingsOfRows rows, const std::int32_t* of_user,
                               std::int32_t* users, std::int32_t* items, float* values,
                               const Permutation permutation) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows.nnz;
       i += step) {
    const std::int64_t from = permutation(i);
    const RowRating rating = rows.ratings[from];
    users[i] = of_user[from];
    items[i] = rating.other;
    values[i] = rating.value;
  }
}

template <class T, class Shape>
void launch_hogwild(const Pass& pass, const RunOrder& order) {
  const auto kernel = hogwild_kernel<T, Shape::kLanes, Shape::kWords, Shape::kUnits>;
  static thread_local const std::int64_t resident = cuda::resident_blocks(kernel, kThreads);
  const std::int64_t lanes = order.workers * Shape::kLanes;
  const std::int64_t wanted = std::max<std::int64_t>(1, lanes / kThreads);
  const int threads = cuda::whole_warps(lanes, kThreads);
  const unsigned blocks =
      cuda::blocks_for(order.runs, threads / Shape::kLanes, std::min(resident, wanted));
  if (blocks == 0) return;
  kernel<<<blocks, threads, 0, pass.stream>>>(pass.arrays, pass.step, order, pass.seed,
                                              pass.settings.stochastic);
  MF_CUDA_LAUNCHED("batch_hogwild");
}

// Calls go(kernel) with the wavefront kernel for these rows.
template <class Go>
void with_wavefront(const Settings& settings, Go&& go) {
  const std::int64_t words = storage_words(settings.storage, settings.factors);
  cuda::with_storage_type(settings.storage, [&]<class T>() {
    cuda::with_warp_row<T, kMostOfWavefront>(words, [&](auto shape) {
      using Shape = decltype(shape);
      go(wavefront_kernel<T, Shape::kWords, Shape::kUnits>);
    });
  });
}

}  // namespace

void launch_batch_hogwild(const Pass& pass, const RunOrder& order, Mapping mapping) {
  const std::int64_t words = storage_words(pass.settings.storage, pass.settings.factors);
  cuda::with_storage_type(pass.settings.storage, [&]<class T>() {
    const auto launch = [&](auto shape) { launch_hogwild<T, decltype(shape)>(pass, order); };
    if (mapping == Mapping::group) {
      cuda::with_group_row<T, kMostOfHogwild>(words, launch);
    } else {
      cuda::with_warp_row<T, kMostOfHogwild>(words, launch);
    }
  });
}

void launch_permute(const cuda::RatingsOfRows& rows, const std::int32_t* of_user,
                    std::int32_t* users, std::int32_t* items, float* values,
                    const Permutation& permutation, cudaStream_t stream) {
  if (rows.nnz == 0) return;
  permute_kernel<<<cuda::blocks_for(rows.nnz, 256, 1 << 16), 256, 0, stream>>>(
      rows, of_user, users, items, values, permutation);
  MF_CUDA_LAUNCHED("cumf_sgd permute");
}

std::int64_t resident_workers(const Settings& settings) {
  std::int64_t workers = 0;
  with_wavefront(settings, [&](auto kernel) {
    workers = cuda::resident_blocks(kernel, kThreads) * (kThreads / 32);
  });
  return workers;
}

void launch_wavefront(const Pass& pass, const Grid& grid) {
  if (grid.bands == 0) return;
  const int half_bits = Permutation::of(grid.columns, 0).half_bits;
  with_wavefront(pass.settings, [&](auto kernel) {
    kernel<<<cuda::blocks_for(grid.bands, kThreads / 32), kThreads, 0, pass.stream>>>(
        pass.arrays, grid, pass.step, pass.seed, pass.settings.stochastic, half_bits);
  });
  MF_CUDA_LAUNCHED("wavefront");
}

}  // namespace mf::cumf_sgd
