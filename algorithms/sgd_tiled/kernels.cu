// The pass of sgd_tiled. The update (core/sgd/sgd_rule.hpp), with the old values throughout:
//
//   e    = r - (mu + b_u + c_i + p_u . q_i)              plain model: r - p_u . q_i
//   p_u += rate (e q_i - reg_p p_u)      q_i += rate (e p_u - reg_q q_i)
//   b_u += rate (e - reg_b b_u)          c_i += rate (e - reg_c c_i)
//
// kLanes lanes, as few as just hold a row in kWords words of 16 bytes each, take a chunk of at most
// `chunk` ratings of one user; a warp takes a bundle of 32 / kLanes chunks of about equal length.
// p_u stays in fp32 registers over the chunk. All lanes of a group read the same ratings, load
// their words of the rows of Q a batch of kBatch ratings before they are used, add p_u . q_i across
// the group by shuffles, and write the words of q_i back (if the item is thinned, in one of its 2,
// 4, ... updates).
//
// An update reads its rating (8 bytes) from device memory and reads and writes a row of Q in the
// second-level cache: 2 f numbers, 512 bytes at f = 128 in fp16. The row of P is read and written
// once a chunk. 10 f + 2 FLOPs (biased: 10 f + 13). README.md has the ceilings.
#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/row_shape.hpp"
#include "algorithms/core/cuda/ratings/row_words.cuh"
#include "algorithms/sgd_tiled/kernels.hpp"
#include "algorithms/sgd_tiled/rule.hpp"

namespace mf::sgd_tiled {
namespace {

using cuda::Rounder;
using cuda::RowShare;

using Step = sgd::Step<float>;

constexpr int kThreads = 128;

// Ratings of a chunk whose rows of Q are fetched together: the registers hold two batches, kValues
// of a row in each lane.
template <int kValues>
constexpr int kBatchOf = kValues <= 16 ? 4 : 2;

// kBatch ratings and their rows of Q. All lanes of a group read the same ratings: one transaction,
// from the first-level cache except for the first of a line.
//
// Lane i of a group has the item's bias of rating i: one load and one addition a batch.
template <class Share, int kBatch, bool kBiased>
struct Batch {
  std::int32_t item[kBatch];  // marked_item; 0 past the chunk's last
  float value[kBatch];
  Share q[kBatch];
  std::int32_t own_item;
  float own_bias;

  __device__ void fetch(const Arrays& a, const RowRating* ratings, int first, int count, int member,
                        int words) {
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      item[i] = 0;
      if (first + i < count) {
        const int2 two = __ldg(reinterpret_cast<const int2*>(ratings) + first + i);
        item[i] = two.x;
        value[i] = __int_as_float(two.y);
      }
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const std::int32_t row = item_of(item[i]);
      q[i].load(a.q, row, member, words);
    }
    if (!kBiased || member >= kBatch) return;
    own_item = item[0];
#pragma unroll
    for (int i = 1; i < kBatch; ++i) own_item = member == i ? item[i] : own_item;
    own_bias = __ldcg(bias_of(a));
  }

  __device__ float* bias_of(const Arrays& a) const {
    return a.item_bias + std::int64_t{item_of(own_item)} * a.item_bias_stride;
  }
};

// Blocks of a multiprocessor whose registers it must hold: if a lane has one word of a row, the
// updates wait for the second-level cache, and more of them at once hide that. Biases of four lanes
// do not fit into those registers.
constexpr int least_blocks(int lanes, int words, bool biased) {
  return words > 1 ? 1 : biased && lanes == 4 ? 4 : 5;
}

// Groups whose chunk is shorter than the longest of the bundle go on with updates that change
// nothing (gain and shrink 0), so that the lanes of a warp stay together.
template <class T, int kLanes, int kWords, bool kBiased, bool kAdds>
__global__ void __launch_bounds__(kThreads, least_blocks(kLanes, kWords, kBiased))
    pass_kernel(const Arrays a, const Step step, const Order order, std::uint32_t seed,
                std::uint32_t epoch, bool stochastic) {
  using Share = RowShare<T, kLanes, kWords>;
  constexpr int kValues = Share::kValues;
  constexpr int kGroups = 32 / kLanes;
  constexpr int kBatch = kBatchOf<kValues>;
  static_assert(kBatch <= kLanes, "a lane has a bias");
  using Ratings = Batch<Share, kBatch, kBiased>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int member = lane % kLanes;
  const int group = lane / kLanes;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t warps = std::int64_t{gridDim.x} * blockDim.x / 32;
  const int words = Share::words(a.factors);
  Rounder rounder{seed + 0x9E3779B9U * static_cast<std::uint32_t>(thread), stochastic};

  for (std::int64_t slot = a.range.begin + thread / 32; slot < a.range.end; slot += warps) {
    const std::int64_t bundle = (order.multiplier * slot + order.shift) % a.bundles;
    const Chunk chunk = a.chunks[bundle * kGroups + group];
    const int longest = cuda::max_over_warp(chunk.count);
    const RowRating* ratings = a.ratings + chunk.begin;
    const auto turn_of_writes = static_cast<std::uint32_t>(chunk.begin) + epoch;
    Ratings first;
    Ratings second;
    Share row;
    row.load(a.p, chunk.user, member, words);
    float user_bias = kBiased ? a.user_bias[chunk.user] : 0.0F;
    first.fetch(a, ratings, 0, chunk.count, member, words);
    float p[kValues];
    row.unpack(p);

    float own_gain = 0;
    const auto update = [&](const Ratings& batch, int i, int place) {
      float q[kValues];
      batch.q[i].unpack(q);
      float sums[2] = {};
#pragma unroll
      for (int k = 0; k < kValues; ++k) sums[k % 2] = fmaf(p[k], q[k], sums[k % 2]);
      const float dot = cuda::sum_over_lanes<kLanes>(sums[0] + sums[1]);
      const bool valid = place < chunk.count;
      const std::int32_t item = item_of(batch.item[i]);
      const bool writes = valid && writes_item(batch.item[i], place, turn_of_writes);
      const float c = kBiased ? __shfl_sync(0xffffffffU, batch.own_bias, i, kLanes) : 0.0F;
      const float error = sgd::rating_error<kBiased>(step, batch.value[i], user_bias, c, dot);
      rounder.expect(step.rate * error);
      const float gain = valid ? step.rate * error : 0.0F;
      const float shrink_p = valid ? step.shrink_p : 0.0F;
#pragma unroll
      for (int k = 0; k < kValues; ++k) {
        const float p_old = p[k];
        p[k] = sgd::stepped(p_old, q[k], gain, shrink_p);
        q[k] = sgd::stepped(q[k], p_old, gain, step.shrink_q);
      }
      if (writes) {
        if constexpr (kAdds) {
          batch.q[i].add_change(a.q, item, member, words, q, rounder);
        } else {
          Share::store(a.q, item, member, words, q, rounder);
        }
      }
      if constexpr (kBiased) {
        if (valid) user_bias = sgd::stepped(user_bias, 1.0F, gain, step.shrink_user_bias);
        if (member == i) own_gain = gain;
      }
    };
    const auto write_biases = [&](const Ratings& batch, int first_place) {
      const int place = first_place + member;
      if (member >= kBatch || place >= chunk.count) return;
      if (!writes_item(batch.own_item, place, turn_of_writes)) return;
      if constexpr (kAdds) {
        atomicAdd(batch.bias_of(a),
                  sgd::gradient(batch.own_bias, 1.0F, own_gain, step.shrink_item_bias));
      } else {
        __stcg(batch.bias_of(a),
               sgd::stepped(batch.own_bias, 1.0F, own_gain, step.shrink_item_bias));
      }
    };
    const auto turn = [&](const Ratings& now, Ratings& next, int done) {
      next.fetch(a, ratings, done + kBatch, chunk.count, member, words);
#pragma unroll
      for (int i = 0; i < kBatch; ++i) update(now, i, done + i);
      if constexpr (kBiased) write_biases(now, done);
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

struct Grid {
  std::int64_t blocks;  // at most, as many as the device holds at once
  int threads;
};

template <class T, class Shape, bool kBiased, bool kAdds>
Grid grid_of(std::int64_t workers) {
  static thread_local const std::int64_t resident =
      cuda::resident_blocks(pass_kernel<T, Shape::kLanes, Shape::kWords, kBiased, kAdds>, kThreads);
  const std::int64_t lanes = workers * Shape::kLanes;
  return {std::min(resident, std::max<std::int64_t>(1, lanes / kThreads)),
          cuda::whole_warps(lanes, kThreads)};
}

template <class T, class Shape, bool kBiased, bool kAdds>
void launch_kernel(const Pass& pass) {
  const Grid grid = grid_of<T, Shape, kBiased, kAdds>(pass.arrays.workers);
  const unsigned blocks =
      cuda::blocks_for(pass.arrays.range.size(), grid.threads / 32, grid.blocks);
  if (blocks == 0) return;
  pass_kernel<T, Shape::kLanes, Shape::kWords, kBiased, kAdds>
      <<<blocks, grid.threads, 0, pass.stream>>>(pass.arrays, pass.step, pass.order, pass.seed,
                                                 pass.epoch, pass.settings.stochastic);
  MF_CUDA_LAUNCHED("sgd_tiled pass");
}

// Calls go.operator()<T, Shape, kBiased, kAdds>() of the kernel that these settings take.
template <class Go>
void with_kernel(const Settings& settings, const Go& go) {
  const std::int64_t words = storage_words(settings.storage, settings.factors);
  cuda::with_storage_type(settings.storage, [&]<class T>() {
    cuda::with_group_row<T, kMaxFactors>(words, [&](auto shape) {
      using Shape = decltype(shape);
      const bool adds = settings.writes == Writes::add;
      if (settings.biased()) {
        adds ? go.template operator()<T, Shape, true, true>()
             : go.template operator()<T, Shape, true, false>();
      } else {
        adds ? go.template operator()<T, Shape, false, true>()
             : go.template operator()<T, Shape, false, false>();
      }
    });
  });
}

}  // namespace

int bundle_size(const Settings& settings) {
  const std::int64_t words = storage_words(settings.storage, settings.factors);
  return cuda::with_group_row<float, kMaxFactors>(
      words, [](auto shape) { return 32 / decltype(shape)::kLanes; });
}

std::int64_t groups_at_once(const Settings& settings, std::int64_t workers) {
  std::int64_t groups = 0;
  with_kernel(settings, [&]<class T, class Shape, bool kBiased, bool kAdds>() {
    const Grid grid = grid_of<T, Shape, kBiased, kAdds>(workers);
    groups = grid.blocks * grid.threads / Shape::kLanes;
  });
  return groups;
}

void launch_pass(const Pass& pass) {
  with_kernel(pass.settings, [&]<class T, class Shape, bool kBiased, bool kAdds>() {
    launch_kernel<T, Shape, kBiased, kAdds>(pass);
  });
}

}  // namespace mf::sgd_tiled
