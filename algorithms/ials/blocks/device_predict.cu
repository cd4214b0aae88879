// Predictions of the observed pairs += v_u . y_i over a block of coordinates: at the start of a
// half-step (v = x, block by block), and after every block (v = how far x moved).
//
// A warp a task, a lane every 32nd coordinate of v in registers. Lanes hold 32 pairs, whose rows
// are read one after another, several under way at once; a sum by shuffles a pair.
//
// A pair: 2 d FLOPs, 4 d bytes of its row, 4 of its index, 8 of its prediction.
#include <cuda_runtime.h>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/ials/blocks/device_kernels.hpp"

namespace mf::ials {
namespace {

constexpr int kWarpsABlock = 4;
constexpr unsigned kFullWarp = 0xffffffffU;

// kOwn coordinates a lane.
template <int kOwn>
__global__ void __launch_bounds__(32 * kWarpsABlock) predict_kernel(const PredictArgs a) {
  constexpr int kInFlight = 8;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::int64_t index =
      std::int64_t{blockIdx.x} * kWarpsABlock + (static_cast<int>(threadIdx.x) >> 5);
  if (index >= a.n_tasks) return;
  const als::RowTask task = a.tasks[index];
  float v[kOwn];
#pragma unroll
  for (int m = 0; m < kOwn; ++m) {
    const int c = lane + 32 * m;
    v[m] = c < a.count ? a.v[task.row * a.v_stride + c] : 0.0F;
  }
  for (int first = 0; first < task.count; first += 32) {
    const int left = task.count - first;
    const int pairs = left < 32 ? left : 32;
    const std::int64_t at = task.begin + first + lane;
    const std::int32_t other = lane < pairs ? __ldg(a.others + at) : 0;
    float own = 0.0F;  // of the lane's pair
#pragma unroll 1
    for (int turn = 0; turn < pairs; turn += kInFlight) {
      float y[kInFlight][kOwn];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        const float* row = a.y + __shfl_sync(kFullWarp, other, turn + i) * a.stride + a.first;
#pragma unroll
        for (int m = 0; m < kOwn; ++m) {
          const int c = lane + 32 * m;
          y[i][m] = c < a.count ? __ldg(row + c) : 0.0F;
        }
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        float sum = 0.0F;
#pragma unroll
        for (int m = 0; m < kOwn; ++m) sum = fmaf(v[m], y[i][m], sum);
#pragma unroll
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kFullWarp, sum, step);
        if (lane == turn + i) own = sum;
      }
    }
    if (lane < pairs) a.predictions[at] += own;
  }
}

template <int kOwn>
void launch(const PredictArgs& args, cudaStream_t stream) {
  predict_kernel<kOwn>
      <<<cuda::blocks_for(args.n_tasks, kWarpsABlock), 32 * kWarpsABlock, 0, stream>>>(args);
  MF_CUDA_LAUNCHED("ials_pp predict");
}

}  // namespace

void launch_predict(const PredictArgs& args, cudaStream_t stream) {
  if (args.n_tasks == 0) return;
  if (args.count <= 32) return launch<1>(args, stream);
  if (args.count <= 64) return launch<2>(args, stream);
  launch<4>(args, stream);
}

}  // namespace mf::ials
