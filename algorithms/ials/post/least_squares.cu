// The post's least_squares_cg_kernel:  A_u x_u = b_u  by CG from the row's last value, with
//   A_u v = G v + sum w (y_i . v) y_i     b_u - A_u x = sum (1 + w (1 - y_i . x)) y_i - G x
// over the observed pairs of u, G regularized.
//
// A thread block a row, striding over the rows; a thread a factor, up to whole warps, whose idle
// lanes add zeros and own nothing. (The post has a thread a factor exactly; docs/errata.md says why
// that goes wrong.) Every pair costs a dot product over the block: that is the post's idea, and its
// bound. NOTES.md has the numbers.
//
// Added to the post: the barrier before all of p is read, an end if p.Ap is not positive (als's
// cg.hpp), 64-bit offsets, and `prefetch`: the pair that follows is read before the dot product of
// this one waits for the block. The sums and their order are the same.
#include "algorithms/ials/post/least_squares.hpp"

#include <cuda_runtime.h>

#include "algorithms/core/cuda/check.hpp"

namespace mf::ials {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kFullWarp = 0xffffffffU;

__device__ __forceinline__ float warp_reduce_sum(float value) {
#pragma unroll
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_down_sync(kFullWarp, value, offset);
  }
  return value;
}

// The sum of all threads' values, in all of them. `shared`: a float a warp. The first barrier keeps
// a slow thread's last read of `shared` before the writes, and publishes earlier writes to other
// shared memory.
template <Dot kDot>
__device__ __forceinline__ float block_sum(float value, bool owner, float* shared) {
  __syncthreads();
  if constexpr (kDot == Dot::atomic) {
    if (threadIdx.x == 0) shared[0] = 0.0F;
    __syncthreads();
    if (owner) atomicAdd(shared, value);
    __syncthreads();
  } else {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int warps = static_cast<int>(blockDim.x) / kWarp;  // only whole ones
    value = warp_reduce_sum(value);
    if (lane == 0) shared[warp] = value;
    __syncthreads();
    if (warps == 1) return shared[0];
    if (warp == 0) {
      value = warp_reduce_sum(lane < warps ? shared[lane] : 0.0F);
      if (lane == 0) shared[0] = value;
    }
    __syncthreads();
  }
  return shared[0];
}

// Element `thread` of G v.
template <GramAccess kAccess>
__device__ __forceinline__ float gram_times(const LeastSquaresArgs& a, const float* v, int thread) {
  float sum = 0.0F;
  if (thread >= a.factors) return sum;
  const int pitch = static_cast<int>(a.stride);
  const float* from = a.gram + (kAccess == GramAccess::strided ? thread * pitch : thread);
#pragma unroll 8
  for (int i = 0; i < a.factors; ++i) {
    sum = fmaf(v[i], __ldg(from), sum);
    from += kAccess == GramAccess::strided ? 1 : pitch;
  }
  return sum;
}

// use(w, y) for the pairs [begin, end), which are not empty: y is this thread's element of the
// pair's row, zero in idle lanes.
template <bool kPrefetch, class Use>
__device__ __forceinline__ void for_pairs(const LeastSquaresArgs& a, std::int64_t begin,
                                          std::int64_t end, int thread, const Use& use) {
  const auto element = [&](std::int32_t other) {
    return thread < a.factors ? __ldg(a.y + other * a.stride + thread) : 0.0F;
  };
  if constexpr (!kPrefetch) {
#pragma unroll 1
    for (std::int64_t k = begin; k < end; ++k) {
      use(__ldg(a.weights + k), element(__ldg(a.others + k)));
    }
  } else {
    // Two pairs ahead: the index; one ahead: the weight and the element.
    float w = __ldg(a.weights + begin);
    float y = element(__ldg(a.others + begin));
    std::int32_t next = begin + 1 < end ? __ldg(a.others + begin + 1) : 0;
#pragma unroll 1
    for (std::int64_t k = begin; k < end; ++k) {
      const float w_now = w;
      const float y_now = y;
      if (k + 1 < end) {
        w = __ldg(a.weights + k + 1);
        y = element(next);
      }
      if (k + 2 < end) next = __ldg(a.others + k + 2);
      use(w_now, y_now);
    }
  }
}

template <Dot kDot, GramAccess kAccess, bool kPrefetch>
__global__ void __launch_bounds__(kMostPostFactors)
    least_squares_cg_kernel(const LeastSquaresArgs a) {
  extern __shared__ float shared_memory[];
  __shared__ float sums[kWarp];
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const bool owner = thread < a.factors;
  float* Ap = shared_memory;
  float* r = shared_memory + threads;
  float* p = shared_memory + 2 * threads;

  for (std::int64_t u = blockIdx.x; u < a.rows; u += gridDim.x) {
    const std::int64_t begin = a.offsets[u];
    const std::int64_t end = a.offsets[u + 1];
    float* x = a.x + u * a.stride;
    if (begin == end) continue;
    float own_x = owner ? x[thread] : 0.0F;
    float residual = -gram_times<kAccess>(a, x, thread);
    for_pairs<kPrefetch>(a, begin, end, thread, [&](float w, float y) {
      const float product = block_sum<kDot>(y * own_x, owner, sums);
      residual = fmaf(1.0F + w * (1.0F - product), y, residual);
    });
    p[thread] = r[thread] = residual;
    float rs_old = block_sum<kDot>(residual * residual, owner, sums);

    for (int step = 0; step < a.cg_steps; ++step) {
      float sum = gram_times<kAccess>(a, p, thread);
      const float own_p = p[thread];
      for_pairs<kPrefetch>(a, begin, end, thread, [&](float w, float y) {
        sum = fmaf(w * block_sum<kDot>(y * own_p, owner, sums), y, sum);
      });
      Ap[thread] = sum;
      const float curvature = block_sum<kDot>(own_p * sum, owner, sums);
      // The residual has vanished: the same in all threads. NaN goes on into x.
      if (curvature <= 0) break;
      const float alpha = rs_old / curvature;
      own_x = fmaf(alpha, own_p, own_x);
      const float own_r = fmaf(-alpha, Ap[thread], r[thread]);
      r[thread] = own_r;
      const float rs_new = block_sum<kDot>(own_r * own_r, owner, sums);
      if (rs_new == 0) break;
      p[thread] = fmaf(rs_new / rs_old, own_p, own_r);
      rs_old = rs_new;
      __syncthreads();  // the next step reads all of p
    }
    if (owner) x[thread] = own_x;
  }
}

using Kernel = void (*)(LeastSquaresArgs);

template <Dot kDot, GramAccess kAccess>
Kernel kernel_of(bool prefetch) {
  return prefetch ? least_squares_cg_kernel<kDot, kAccess, true>
                  : least_squares_cg_kernel<kDot, kAccess, false>;
}

template <Dot kDot>
Kernel kernel_of(GramAccess access, bool prefetch) {
  return access == GramAccess::strided ? kernel_of<kDot, GramAccess::strided>(prefetch)
                                       : kernel_of<kDot, GramAccess::coalesced>(prefetch);
}

}  // namespace

void launch_least_squares(const LeastSquaresArgs& args, const LeastSquaresVariant& variant,
                          cudaStream_t stream) {
  if (args.rows == 0) return;
  const std::int64_t blocks = variant.blocks < args.rows ? variant.blocks : args.rows;
  if (variant.dot == Dot::warp) return launch_warp_least_squares(args, blocks, stream);
  const Kernel kernel = variant.dot == Dot::atomic
                            ? kernel_of<Dot::atomic>(variant.gram_access, variant.prefetch)
                            : kernel_of<Dot::shuffle>(variant.gram_access, variant.prefetch);
  const int threads = (args.factors + kWarp - 1) / kWarp * kWarp;
  const std::size_t bytes = 3 * static_cast<std::size_t>(threads) * sizeof(float);
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), bytes, stream>>>(args);
  MF_CUDA_LAUNCHED("ials least_squares_cg");
}

}  // namespace mf::ials
