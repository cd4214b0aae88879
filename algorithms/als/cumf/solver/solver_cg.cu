// Approximate conjugate gradients: Algorithm 1 of the paper, line 5 corrected to r = r - alpha A p.
//
//   r = p = b - A x;  a step:  alpha = r.r / p.Ap,  x += alpha p,  r' = r - alpha Ap,
//   beta = r'.r' / r.r,  p = r' + beta p
//
// A thread block a system, a thread an element of each vector (beyond 1,024, two). A is read from
// global memory in every step; as it is symmetric, thread (group, word) adds up p[i] times one
// 16-byte word of row i for the rows i of its group: the block reads consecutive words, and no sum
// crosses threads but at the end.
//
// A row of f factors, A stored in values of s bytes, f_s steps: (f_s + 1) (2 f^2 + 10 f) FLOPs,
// (f_s + 1) s f^2 bytes of A read, less the part still in the L2 cache; x read and written, b read.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/als/cumf/loads.cuh"
#include "algorithms/als/cumf/solver/batch_solver.hpp"
#include "algorithms/core/cuda/check.hpp"

namespace mf::als {
namespace {

constexpr int kInFlight = 5;  // words that a thread requests before it uses the first
constexpr unsigned kFullWarp = 0xffffffffU;
constexpr int kMostWarps = 32;

// Threads of a block, at most, and elements of a vector that each has.
template <int kThreads, int kElements>
struct Size {
  static constexpr int kMostThreads = kThreads;
  static constexpr int kOwn = kElements;
  // Registers to hold all words in flight: without the bound the compiler saves them, one load at a
  // time.
  static constexpr int kBlocks = 1024 / kThreads;
};
using Narrow = Size<256, 1>;
using Wide = Size<1024, 1>;
using Widest = Size<1024, 2>;

template <bool kThroughL1>
__device__ __forceinline__ float4 read_word(const float4* from) {
  if constexpr (kThroughL1) return load_through_l1(from);
  return load_past_l1(from);
}

// sum += weight * the values of a word of A.
__device__ __forceinline__ void add_word(float (&sum)[4], const float4& word, float weight) {
  sum[0] = fmaf(weight, word.x, sum[0]);
  sum[1] = fmaf(weight, word.y, sum[1]);
  sum[2] = fmaf(weight, word.z, sum[2]);
  sum[3] = fmaf(weight, word.w, sum[3]);
}
__device__ __forceinline__ void add_word(float (&sum)[8], const float4& word, float weight) {
  const float bits[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 x = __half22float2(*reinterpret_cast<const __half2*>(&bits[i]));
    sum[2 * i] = fmaf(weight, x.x, sum[2 * i]);
    sum[2 * i + 1] = fmaf(weight, x.y, sum[2 * i + 1]);
  }
}

struct Launch {
  int words;   // 16-byte words of a row of A
  int groups;  // of threads, which take every groups-th row
  int threads;
};

// Threads with enough loads each to hide their latency, and as many as have all elements.
template <class S>
Launch launch_of(AStorage storage, int factors) {
  const int words =
      static_cast<int>(a_pitch(storage, factors)) / (storage == AStorage::fp32 ? 4 : 8);
  constexpr int kRowsAThread = 10;
  const int wanted = (factors + kRowsAThread - 1) / kRowsAThread;
  const int groups = std::clamp(wanted, 1, std::max(1, S::kMostThreads / words));
  const int threads = std::max(groups * words, (factors + S::kOwn - 1) / S::kOwn);
  return {words, groups, (threads + 31) / 32 * 32};
}

// Sum over the block, in all threads; the same for the same values. `sums` has room for a value a
// warp, and is free again after the next barrier.
__device__ __forceinline__ float block_sum(float value, float* sums) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kFullWarp, value, distance);
  }
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = value;
  __syncthreads();
  float sum = 0.0F;
  for (int warp = 0; warp < static_cast<int>(blockDim.x) >> 5; ++warp) sum += sums[warp];
  return sum;
}

// kPerWord: values of a 16-byte word, 4 (fp32) or 8 (fp16).
template <class S, int kPerWord, bool kThroughL1>
__global__ void __launch_bounds__(S::kMostThreads, S::kBlocks)
    cg_kernel(const Systems s, const Launch launch, const int steps, const float tolerance) {
  extern __shared__ __align__(16) float shared[];
  const int f = s.factors;
  const int thread = static_cast<int>(threadIdx.x);
  const int pitch = launch.words * kPerWord;
  float* direction = shared;                        // vector that A is multiplied by: pitch
  float* partial = direction + pitch;               // groups x pitch
  float* sums_a = partial + launch.groups * pitch;  // a value a warp, by turns
  float* sums_b = sums_a + kMostWarps;

  const std::int64_t system = blockIdx.x;
  const std::int64_t stride = row_stride(f, sizeof(float));
  constexpr AStorage kStorage = kPerWord == 4 ? AStorage::fp32 : AStorage::fp16;
  const float scale = kStorage == AStorage::fp32 ? 1.0F : s.scale[system];
  const std::int64_t matrix = system * a_values(kStorage, f) / kPerWord;
  const float4* a = static_cast<const float4*>(s.a) + matrix;
  float* x_row = s.x + s.rows[system] * stride;
  const int group = thread / launch.words;
  const int word = thread - group * launch.words;
  // The elements of this thread: each(e, i), e counting them, i being its number in the row.
  const auto each = [&](const auto& body) {
#pragma unroll
    for (int e = 0; e < S::kOwn; ++e) {
      const int i = thread + e * static_cast<int>(blockDim.x);
      if (i < f) body(e, i);
    }
  };
  // out = the elements of A times `from`. Two barriers.
  const auto multiply = [&](const float(&from)[S::kOwn], float(&out)[S::kOwn]) {
    each([&](int e, int i) { direction[i] = from[e]; });
    __syncthreads();
    if (group < launch.groups) {
      float sum[kPerWord] = {};
#pragma unroll 1
      for (int first = group; first < f; first += kInFlight * launch.groups) {
        // Beyond the last row: the last one again, with weight 0. Loads without conditions can all
        // be under way at once.
        float4 loaded[kInFlight];
        float weight[kInFlight];
#pragma unroll
        for (int u = 0; u < kInFlight; ++u) {
          const int i = first + u * launch.groups;
          const int row = min(i, f - 1);
          loaded[u] = read_word<kThroughL1>(a + row * launch.words + word);
          weight[u] = i < f ? direction[row] : 0.0F;
        }
#pragma unroll
        for (int u = 0; u < kInFlight; ++u) add_word(sum, loaded[u], weight[u]);
      }
      float4* to = reinterpret_cast<float4*>(partial + group * pitch + word * kPerWord);
#pragma unroll
      for (int i = 0; i < kPerWord / 4; ++i) {
        to[i] = float4{sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]};
      }
    }
    __syncthreads();
    each([&](int e, int i) {
      float sum = 0.0F;
      for (int g = 0; g < launch.groups; ++g) sum += partial[g * pitch + i];
      out[e] = sum * scale;
    });
  };
  const auto dot = [&](const float(&v)[S::kOwn], const float(&w)[S::kOwn], float* sums) {
    float sum = 0.0F;
    each([&](int e, int) { sum = fmaf(v[e], w[e], sum); });
    return block_sum(sum, sums);
  };

  float x[S::kOwn];
  float r[S::kOwn];
  float p[S::kOwn];
  float ap[S::kOwn];
  each([&](int e, int i) { x[e] = x_row[i]; });
  multiply(x, ap);
  each([&](int e, int i) { p[e] = r[e] = s.b[system * stride + i] - ap[e]; });
  float rs_old = dot(r, r, sums_a);
  for (int step = 0; step < steps; ++step) {
    multiply(p, ap);
    const float curvature = dot(p, ap, sums_b);
    // The residual has vanished: the same in all threads. NaN goes on into x.
    if (curvature <= 0) break;
    const float alpha = rs_old / curvature;
    each([&](int e, int) {
      x[e] = fmaf(alpha, p[e], x[e]);
      r[e] = fmaf(-alpha, ap[e], r[e]);
    });
    const float rs_new = dot(r, r, sums_a);
    if (rs_new == 0 || sqrtf(rs_new) < tolerance) break;
    const float beta = rs_new / rs_old;
    each([&](int e, int) { p[e] = fmaf(beta, p[e], r[e]); });
    rs_old = rs_new;
  }
  each([&](int e, int i) { x_row[i] = x[e]; });
}

template <class S, int kPerWord, bool kThroughL1>
void launch_size(const Systems& systems, const CgRule& rule, cudaStream_t stream) {
  const Launch launch = launch_of<S>(systems.storage, systems.factors);
  const int floats = launch.words * kPerWord * (1 + launch.groups) + 2 * kMostWarps;
  cg_kernel<S, kPerWord, kThroughL1>
      <<<static_cast<unsigned>(systems.count), static_cast<unsigned>(launch.threads),
         static_cast<std::size_t>(floats) * sizeof(float), stream>>>(
          systems, launch, rule.steps, static_cast<float>(rule.tolerance));
  MF_CUDA_LAUNCHED("als cg");
}

template <int kPerWord, bool kThroughL1>
void launch_cg(const Systems& systems, const CgRule& rule, cudaStream_t stream) {
  const std::int32_t f = systems.factors;
  if (f <= Narrow::kMostThreads) {
    launch_size<Narrow, kPerWord, kThroughL1>(systems, rule, stream);
  } else if (f <= Wide::kMostThreads) {
    launch_size<Wide, kPerWord, kThroughL1>(systems, rule, stream);
  } else {
    launch_size<Widest, kPerWord, kThroughL1>(systems, rule, stream);
  }
}

class CgSolver : public BatchSolver {
 public:
  CgSolver(const CgRule& rule, bool through_l1) : rule_(rule), through_l1_(through_l1) {}

  void solve(const Systems& systems, cudaStream_t stream) override {
    if (systems.count == 0) return;
    if (systems.storage == AStorage::fp32) {
      through_l1_ ? launch_cg<4, true>(systems, rule_, stream)
                  : launch_cg<4, false>(systems, rule_, stream);
    } else {
      through_l1_ ? launch_cg<8, true>(systems, rule_, stream)
                  : launch_cg<8, false>(systems, rule_, stream);
    }
  }

 private:
  CgRule rule_;
  bool through_l1_;
};

}  // namespace

std::unique_ptr<BatchSolver> make_cg_solver(const CgRule& rule, bool through_l1) {
  return std::make_unique<CgSolver>(rule, through_l1);
}

}  // namespace mf::als
