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
// the group by shuffles, and write the words of q_i back (where the item is thinned, in one of its
// 2, 4, ... updates).
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

// Ratings of a chunk whose rows of Q are fetched together: as the registers have room for two
// batches of them, kValues of a row in each lane.
template <int kValues>
constexpr int kBatchOf = kValues <= 16 ? 4 : 2;

// kBatch ratings and their rows of Q. All lanes of a group read the same ratings: one transaction,
// from the first-level cache but for the first of a line.
template <class Share, int kBatch, bool kBiased>
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
        const int2 two = __ldg(reinterpret_cast<const int2*>(a.ratings) + chunk.begin + first + i);
        item[i] = item_of(two.x);
        writes[i] = writes_item(two.x, chunk.begin + first + i, epoch);
        value[i] = __int_as_float(two.y);
      }
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const std::int32_t row = max(item[i], 0);
      q[i].load(a.q, row, member, words);
      if (kBiased) item_bias[i] = __ldcg(a.item_bias + std::int64_t{row} * a.item_bias_stride);
    }
  }
};

// Groups whose chunk is shorter than the longest of the bundle go on with updates that change
// nothing (gain and shrink 0), so that the lanes of a warp stay together.
// Blocks of a multiprocessor whose registers it must hold: where a lane has one word of a row, the
// updates wait for the second-level cache, and more of them at once hide that.
constexpr int least_blocks(int words) { return words == 1 ? 5 : 1; }

template <class T, int kLanes, int kWords, bool kBiased, bool kAdds>
__global__ void __launch_bounds__(kThreads, least_blocks(kWords))
    pass_kernel(const Arrays a, const Step step, const Order order, std::uint32_t seed,
                std::uint32_t epoch, bool stochastic) {
  using Share = RowShare<T, kLanes, kWords>;
  constexpr int kValues = Share::kValues;
  constexpr int kGroups = 32 / kLanes;
  constexpr int kBatch = kBatchOf<kValues>;
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
    Ratings first;
    Ratings second;
    Share row;
    row.load(a.p, chunk.user, member, words);
    float user_bias = kBiased ? a.user_bias[chunk.user] : 0.0F;
    first.fetch(a, chunk, 0, epoch, member, words);
    float p[kValues];
    row.unpack(p);

    const auto update = [&](const Ratings& batch, int i) {
      float q[kValues];
      batch.q[i].unpack(q);
      float sums[2] = {};
#pragma unroll
      for (int k = 0; k < kValues; ++k) sums[k % 2] = fmaf(p[k], q[k], sums[k % 2]);
      const float dot = cuda::sum_over_lanes<kLanes>(sums[0] + sums[1]);
      const bool valid = batch.item[i] >= 0;
      const float c = kBiased ? batch.item_bias[i] : 0.0F;
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
      if (batch.writes[i]) {
        if constexpr (kAdds) {
          batch.q[i].add_change(a.q, batch.item[i], member, words, q, rounder);
        } else {
          Share::store(a.q, batch.item[i], member, words, q, rounder);
        }
      }
      if (kBiased && valid) {
        user_bias = sgd::stepped(user_bias, 1.0F, gain, step.shrink_user_bias);
        if (member == 0 && batch.writes[i]) {
          float* to = a.item_bias + std::int64_t{batch.item[i]} * a.item_bias_stride;
          if constexpr (kAdds) {
            atomicAdd(to, sgd::gradient(c, 1.0F, gain, step.shrink_item_bias));
          } else {
            __stcg(to, sgd::stepped(c, 1.0F, gain, step.shrink_item_bias));
          }
        }
      }
    };
    const auto turn = [&](const Ratings& now, Ratings& next, int done) {
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

struct Grid {
  std::int64_t blocks;  // at most, as many as the device holds at once
  int threads;
};

template <class T, class Shape, bool kBiased, bool kAdds>
Grid grid_of(std::int64_t workers) {
  static const std::int64_t resident =
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
