// dot: warp, ours. The systems, the steps and the block a row are the post's; but a pair belongs to
// one warp, which keeps the vector in registers and sums y_i . v by shuffles: no barrier a pair.
//
//   A v = sum over i of v_i g_i + sum over the pairs of w (y . v) y
//
// Rows g_i of the Gram matrix are pairs whose coefficient is known, so warps share them out with
// the pairs. Each warp adds up its part of A v in registers; the parts meet in shared memory once a
// product, in the order of the warps.
#include <cuda_runtime.h>

#include "algorithms/als/cumf/loads.cuh"
#include "algorithms/core/cuda/check.hpp"
#include "algorithms/ials/post/least_squares.hpp"

namespace mf::ials {
namespace {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr unsigned kFullWarp = 0xffffffffU;

__device__ __forceinline__ void add_scaled(float4& sum, float by, const float4& x) {
  sum.x = fmaf(by, x.x, sum.x);
  sum.y = fmaf(by, x.y, sum.y);
  sum.z = fmaf(by, x.z, sum.z);
  sum.w = fmaf(by, x.w, sum.w);
}

__device__ __forceinline__ float dot4(const float4& a, const float4& b) {
  return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, a.w * b.w)));
}

// A row of `words` 16-byte words lies on kLanes lanes, kWords words each; 32 / kLanes rows at once.
template <int kLanes_, int kWords_>
struct Shape {
  static constexpr int kLanes = kLanes_;
  static constexpr int kWords = kWords_;
  static constexpr int kRows = 32 / kLanes;
  static constexpr int kInFlight = kWords >= 4 ? 1 : kWords == 2 ? 2 : 4;
};

template <class S>
struct Row {
  float4 word[S::kWords];

  // Lanes beyond the row: zeros.
  __device__ void load(const float* row, int lane, int words) {
#pragma unroll
    for (int w = 0; w < S::kWords; ++w) {
      const int at = lane % S::kLanes + w * S::kLanes;
      word[w] = at < words ? als::load_constant(reinterpret_cast<const float4*>(row) + at)
                           : float4{0, 0, 0, 0};
    }
  }
  __device__ void load_shared(const float* row, int lane, int words) {
#pragma unroll
    for (int w = 0; w < S::kWords; ++w) {
      const int at = lane % S::kLanes + w * S::kLanes;
      word[w] = at < words ? reinterpret_cast<const float4*>(row)[at] : float4{0, 0, 0, 0};
    }
  }
  __device__ void clear() {
#pragma unroll
    for (int w = 0; w < S::kWords; ++w) word[w] = float4{0, 0, 0, 0};
  }
  __device__ void add(float by, const Row& other) {
#pragma unroll
    for (int w = 0; w < S::kWords; ++w) add_scaled(word[w], by, other.word[w]);
  }
  // In all lanes of the row.
  __device__ float dot(const Row& other) const {
    float sum = 0.0F;
#pragma unroll
    for (int w = 0; w < S::kWords; ++w) sum += dot4(word[w], other.word[w]);
#pragma unroll
    for (int step = S::kLanes / 2; step > 0; step /= 2) {
      sum += __shfl_xor_sync(kFullWarp, sum, step);
    }
    return sum;
  }
};

// sum += coefficient(w, y . v) y over this warp's pairs of [begin, end). The warps take 32 pairs in
// turn. Pairs beyond the last are the first row of y with coefficient zero.
template <class S, class Coefficient>
__device__ __forceinline__ void add_pairs(const LeastSquaresArgs& a, std::int64_t begin,
                                          std::int64_t end, const Row<S>& v, Row<S>& sum,
                                          const Coefficient& coefficient) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int warp = static_cast<int>(threadIdx.x) >> 5;
  const int words = static_cast<int>(a.stride) / 4;
  constexpr int kTurn = S::kRows * S::kInFlight;
  for (std::int64_t first = begin + 32 * warp; first < end; first += kThreads) {
    const int count = static_cast<int>(end - first < 32 ? end - first : 32);
    const std::int32_t other = lane < count ? __ldg(a.others + first + lane) : 0;
    const float weight = lane < count ? __ldg(a.weights + first + lane) : 0.0F;
#pragma unroll 1
    for (int turn = 0; turn < count; turn += kTurn) {
      Row<S> y[S::kInFlight];
#pragma unroll
      for (int i = 0; i < S::kInFlight; ++i) {
        const int k = turn + i * S::kRows + lane / S::kLanes;  // below 32, as kTurn divides 32
        y[i].load(a.y + __shfl_sync(kFullWarp, other, k) * a.stride, lane, words);
      }
#pragma unroll
      for (int i = 0; i < S::kInFlight; ++i) {
        const int k = turn + i * S::kRows + lane / S::kLanes;
        const float w = __shfl_sync(kFullWarp, weight, k);
        const float by = coefficient(w, y[i].dot(v));
        sum.add(k < count ? by : 0.0F, y[i]);
      }
    }
  }
}

// sum += sign v_i g_i over this warp's rows of the Gram matrix.
template <class S>
__device__ __forceinline__ void add_gram(const LeastSquaresArgs& a, const float* v, float sign,
                                         Row<S>& sum) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int warp = static_cast<int>(threadIdx.x) >> 5;
  const int words = static_cast<int>(a.stride) / 4;
  constexpr int kTurn = S::kRows * S::kInFlight;
#pragma unroll 1
  for (int first = warp * kTurn; first < a.factors; first += kWarps * kTurn) {
    Row<S> g[S::kInFlight];
    float by[S::kInFlight];
#pragma unroll
    for (int i = 0; i < S::kInFlight; ++i) {
      const int row = first + i * S::kRows + lane / S::kLanes;
      const int real = row < a.factors ? row : 0;
      g[i].load(a.gram + real * a.stride, lane, words);
      by[i] = row < a.factors ? sign * v[row] : 0.0F;
    }
#pragma unroll
    for (int i = 0; i < S::kInFlight; ++i) sum.add(by[i], g[i]);
  }
}

// Adds the rows that lanes of other groups hold, then writes the warp's sum to its part.
template <class S>
__device__ __forceinline__ void write_part(Row<S>& sum, float* part, int words) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll
  for (int w = 0; w < S::kWords; ++w) {
#pragma unroll
    for (int distance = S::kLanes; distance < 32; distance *= 2) {
      sum.word[w].x += __shfl_xor_sync(kFullWarp, sum.word[w].x, distance);
      sum.word[w].y += __shfl_xor_sync(kFullWarp, sum.word[w].y, distance);
      sum.word[w].z += __shfl_xor_sync(kFullWarp, sum.word[w].z, distance);
      sum.word[w].w += __shfl_xor_sync(kFullWarp, sum.word[w].w, distance);
    }
    const int at = lane % S::kLanes + w * S::kLanes;
    if (lane < S::kLanes && at < words) reinterpret_cast<float4*>(part)[at] = sum.word[w];
  }
}

// For all threads' values, in all of them. Two barriers.
__device__ __forceinline__ float block_sum(float value, float* shared) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kFullWarp, value, step);
  __syncthreads();
  if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = value;
  __syncthreads();
  float sum = 0.0F;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) sum += shared[warp];
  return sum;
}

template <class S>
__global__ void __launch_bounds__(kThreads) warp_kernel(const LeastSquaresArgs a) {
  extern __shared__ __align__(16) float shared[];
  __shared__ float sums[kWarps];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread & 31;
  const int warp = thread >> 5;
  const int stride = static_cast<int>(a.stride);
  float* x = shared;
  float* r = x + stride;
  float* p = r + stride;
  float* parts = p + stride;  // kWarps of `stride`

  // Element e of the warps' sum.
  const auto total = [&](int e) {
    float sum = 0.0F;
#pragma unroll
    for (int part = 0; part < kWarps; ++part) sum += parts[part * stride + e];
    return sum;
  };

  for (std::int64_t u = blockIdx.x; u < a.rows; u += gridDim.x) {
    const std::int64_t begin = a.offsets[u];
    const std::int64_t end = a.offsets[u + 1];
    float* row = a.x + u * a.stride;
    if (begin == end) continue;
    for (int e = thread; e < stride; e += kThreads) x[e] = row[e];
    __syncthreads();
    Row<S> v;
    Row<S> sum;
    v.load_shared(x, lane, stride / 4);
    sum.clear();
    add_gram<S>(a, x, -1.0F, sum);
    add_pairs<S>(a, begin, end, v, sum, [](float w, float dot) { return 1.0F + w * (1.0F - dot); });
    write_part<S>(sum, parts + warp * stride, stride / 4);
    __syncthreads();
    float squares = 0.0F;
    for (int e = thread; e < stride; e += kThreads) {
      const float residual = total(e);
      p[e] = r[e] = residual;
      squares = fmaf(residual, residual, squares);
    }
    float rs_old = block_sum(squares, sums);

    for (int step = 0; step < a.cg_steps; ++step) {
      v.load_shared(p, lane, stride / 4);
      sum.clear();
      add_gram<S>(a, p, 1.0F, sum);
      add_pairs<S>(a, begin, end, v, sum, [](float w, float dot) { return w * dot; });
      write_part<S>(sum, parts + warp * stride, stride / 4);
      __syncthreads();
      float products = 0.0F;
      for (int e = thread; e < stride; e += kThreads) products = fmaf(p[e], total(e), products);
      const float curvature = block_sum(products, sums);
      // The residual has vanished: the same in all threads. NaN goes on into x.
      if (curvature <= 0) break;
      const float alpha = rs_old / curvature;
      squares = 0.0F;
      for (int e = thread; e < stride; e += kThreads) {
        x[e] = fmaf(alpha, p[e], x[e]);
        r[e] = fmaf(-alpha, total(e), r[e]);
        squares = fmaf(r[e], r[e], squares);
      }
      const float rs_new = block_sum(squares, sums);
      if (rs_new == 0) break;
      const float beta = rs_new / rs_old;
      for (int e = thread; e < stride; e += kThreads) p[e] = fmaf(beta, p[e], r[e]);
      rs_old = rs_new;
      __syncthreads();  // the next step reads all of p
    }
    for (int e = thread; e < stride; e += kThreads) row[e] = x[e];
    __syncthreads();  // x and p are free for the next row
  }
}

template <class S>
void launch(const LeastSquaresArgs& args, std::int64_t blocks, cudaStream_t stream) {
  const std::size_t bytes = (3 + kWarps) * static_cast<std::size_t>(args.stride) * sizeof(float);
  constexpr std::size_t kMost = (3 + kWarps) * 4 * S::kLanes * S::kWords * sizeof(float);
  if constexpr (kMost > 48 << 10) {
    MF_CUDA(cudaFuncSetAttribute(warp_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(kMost)));
  }
  warp_kernel<S><<<static_cast<unsigned>(blocks), kThreads, bytes, stream>>>(args);
  MF_CUDA_LAUNCHED("ials least squares, a warp a pair");
}

}  // namespace

void launch_warp_least_squares(const LeastSquaresArgs& args, std::int64_t blocks,
                               cudaStream_t stream) {
  const std::int64_t words = args.stride / 4;
  if (words <= 8) return launch<Shape<8, 1>>(args, blocks, stream);
  if (words <= 16) return launch<Shape<16, 1>>(args, blocks, stream);
  if (words <= 32) return launch<Shape<32, 1>>(args, blocks, stream);
  if (words <= 64) return launch<Shape<32, 2>>(args, blocks, stream);
  if (words <= 128) return launch<Shape<32, 4>>(args, blocks, stream);
  if (words <= 256) return launch<Shape<32, 8>>(args, blocks, stream);
  launch<Shape<32, 16>>(args, blocks, stream);
}

}  // namespace mf::ials
