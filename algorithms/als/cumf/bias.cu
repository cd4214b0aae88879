// get_bias:  b_u = sum over the ratings (u, v) of r_uv theta_v
//
// A warp takes a task: a row, or a part of a long one; of more than 256 factors, 256 of them. It
// loads 32 ratings at once, a lane each, and hands them round; 32 / kLanes rows of Theta are read
// at a time, kLanes lanes and kWords words of 16 bytes each, several loads under way before the
// first is used. Sums stay in registers, and cross lanes at the end. Parts are added by a second
// kernel, a thread an element, in their order.
//
// A row of n ratings, f factors: 2 n f FLOPs; 8 n bytes of ratings and 4 f n of rows (mostly from
// the L2 cache) read, 4 f written.
#include "algorithms/als/cumf/bias.hpp"

#include <cuda_runtime.h>

#include "algorithms/als/cumf/loads.cuh"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::als {
namespace {

constexpr int kWarpsABlock = 4;
constexpr int kAddThreads = 256;
constexpr unsigned kFullWarp = 0xffffffffU;
// Registers to hold all words in flight: without the bound the compiler saves them, one load at a
// time.
constexpr int kBlocksAProcessor = 6;

// A warp a task and 4 kLanes kWords factors, from word blockIdx.y kLanes kWords on. 32 / kLanes
// rows of Theta at once, kLanes lanes and kWords 16-byte words each. kWeights: values are weights
// w, and 1 + w multiplies theta.
template <int kLanes, int kWords, bool kWeights>
__global__ void __launch_bounds__(32 * kWarpsABlock, kBlocksAProcessor)
    bias_kernel(const BiasArgs a) {
  constexpr int kRows = 32 / kLanes;
  constexpr int kInFlight = (kLanes == 8 || kWords == 2) ? 4 : 8;  // loads before the first is used
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::int64_t index =
      std::int64_t{blockIdx.x} * kWarpsABlock + (static_cast<int>(threadIdx.x) >> 5);
  if (index >= a.n_tasks) return;
  const RowTask task = a.tasks[index];
  const int first_word = static_cast<int>(blockIdx.y) * kLanes * kWords;
  const int words = static_cast<int>(a.stride) / 4 - first_word;
  const int word = lane % kLanes;
  const int row = lane / kLanes;
  float4 sum[kWords];
#pragma unroll
  for (int w = 0; w < kWords; ++w) sum[w] = float4{0, 0, 0, 0};

  for (int first = 0; first < task.count; first += 32) {
    // Lanes beyond the last rating take it again, with weight 0.
    const int left = task.count - first;
    const std::int64_t at = task.begin + first + min(lane, left - 1);
    const std::int32_t other = __ldg(a.others + at);
    const float loaded = lane < left ? __ldg(a.values + at) : 0.0F;
    const float value = kWeights ? 1.0F + loaded : loaded;  // lanes beyond the last do not count
    const int ratings = min(left, 32);
#pragma unroll 1
    for (int turn = 0; turn < ratings; turn += kRows * kInFlight) {
      // Lanes beyond the words of a row read its first one, for nothing; turns beyond the last
      // rating have weight 0. Loads without conditions can all be under way at once.
      float4 x[kInFlight][kWords];
#pragma unroll
      for (int u = 0; u < kInFlight; ++u) {
        const int k = min(turn + u * kRows + row, 31);
        const std::int32_t v = __shfl_sync(kFullWarp, other, k);
        const auto* theta = reinterpret_cast<const float4*>(a.theta + v * a.stride) + first_word;
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
          const int at = word + w * kLanes;
          x[u][w] = load_constant(theta + (at < words ? at : 0));
        }
      }
#pragma unroll
      for (int u = 0; u < kInFlight; ++u) {
        const int k = turn + u * kRows + row;
        const float weight = __shfl_sync(kFullWarp, value, k & 31);
        const float r = k < left ? weight : 0.0F;
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
          sum[w].x = fmaf(r, x[u][w].x, sum[w].x);
          sum[w].y = fmaf(r, x[u][w].y, sum[w].y);
          sum[w].z = fmaf(r, x[u][w].z, sum[w].z);
          sum[w].w = fmaf(r, x[u][w].w, sum[w].w);
        }
      }
    }
  }
  float* to = task.part < 0 ? a.b + task.slot * a.stride : a.parts + task.part * a.stride;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
#pragma unroll
    for (int distance = kLanes; distance < 32; distance *= 2) {
      sum[w].x += __shfl_xor_sync(kFullWarp, sum[w].x, distance);
      sum[w].y += __shfl_xor_sync(kFullWarp, sum[w].y, distance);
      sum[w].z += __shfl_xor_sync(kFullWarp, sum[w].z, distance);
      sum[w].w += __shfl_xor_sync(kFullWarp, sum[w].w, distance);
    }
    if (lane < kLanes && word + w * kLanes < words) {
      reinterpret_cast<float4*>(to)[first_word + word + w * kLanes] = sum[w];
    }
  }
}

// Thread blocks a split row, a thread an element.
__global__ void __launch_bounds__(kAddThreads) add_bias_parts_kernel(const BiasArgs a) {
  const SplitRow row = a.splits[blockIdx.x];
  const std::int64_t element = std::int64_t{blockIdx.y} * kAddThreads + threadIdx.x;
  if (element >= a.stride) return;
  const float* parts = a.parts + row.first_part * a.stride + element;
  float sum = 0.0F;
#pragma unroll 8
  for (int p = 0; p < row.parts; ++p) sum += parts[p * a.part_step * a.stride];
  a.b[row.slot * a.stride + element] = sum;
}

template <int kLanes, int kWords>
void launch(const BiasArgs& args, cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for(args.n_tasks, kWarpsABlock),
                    cuda::blocks_for(args.stride, 4 * kLanes * kWords));
  const auto kernel =
      args.weights ? bias_kernel<kLanes, kWords, true> : bias_kernel<kLanes, kWords, false>;
  kernel<<<blocks, 32 * kWarpsABlock, 0, stream>>>(args);
  MF_CUDA_LAUNCHED("als get_bias");
}

}  // namespace

void launch_bias(const BiasArgs& args, cudaStream_t stream) {
  if (args.n_tasks == 0) return;
  const std::int64_t words = args.stride / 4;
  if (words <= 8) {
    launch<8, 1>(args, stream);
  } else if (words <= 16) {
    launch<16, 1>(args, stream);
  } else if (words <= 32) {
    launch<32, 1>(args, stream);
  } else {
    launch<32, 2>(args, stream);
  }
  launch_add_parts(args, stream);
}

void launch_add_parts(const BiasArgs& args, cudaStream_t stream) {
  if (args.n_splits == 0) return;
  const dim3 blocks(static_cast<unsigned>(args.n_splits),
                    cuda::blocks_for(args.stride, kAddThreads));
  add_bias_parts_kernel<<<blocks, kAddThreads, 0, stream>>>(args);
  MF_CUDA_LAUNCHED("als add_bias_parts");
}

}  // namespace mf::als
