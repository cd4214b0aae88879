// Newton's step of a row on a block of d coordinates (iALS++).
//
// A thread block of 16 x 16 threads takes a row, or a part of a long one. Pairs come in bins of 32:
// the block's coordinates of their rows of Y are staged in shared memory while those of the next
// bin travel to registers, then each thread adds w y y^T of its elements of H, in registers, and
// its share of the gradient. H = L D L^T is then factorized in place: each step publishes one
// column, and all threads subtract its outer product from their elements. Columns stay in shared
// memory for the back substitution, which one warp does. Parts of a row are added by a second
// kernel in their order, so results are the same in every run.
//
// A row of n pairs: n d (d + 1) + 2 n d FLOPs (the symmetric half; the threads do 2 n d^2), d^3 / 3
// + 2 d^2 to solve; 4 n (d + 3) bytes gathered and read.
#include <cuda_runtime.h>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/ials/blocks/device_kernels.hpp"

namespace mf::ials {
namespace {

constexpr int kThreads = kSquare * kSquare;
constexpr int kBin = 32;  // pairs
constexpr unsigned kFullWarp = 0xffffffffU;

template <int kSide>
struct Layout {
  static constexpr int kWidth = kSquare * kSide;  // most coordinates
  static constexpr int kWord = kSide < 4 ? kSide : 4;
  static constexpr int kLoads = kBin * kWidth / kThreads;  // of a thread, each bin
  static constexpr int kGroups = kThreads / kWidth;        // of threads that share the gradient
  static constexpr int kStage = kBin * kWidth;
  static constexpr int kTriangle = triangle_size(kWidth);
  static constexpr int kShared = kStage > kTriangle ? kStage : kTriangle;  // floats
};

// Pairs of a bin.
struct Bins {
  std::int32_t other[2][kBin];  // of this one and the next
  float weight[kBin];
  float slope[kBin];  // w s - (1 + w)
};

template <int kSide>
struct Thread {
  int number = static_cast<int>(threadIdx.x);
  int row = number / kSquare;     // owns rows row + 16 a of H
  int column = number % kSquare;  // and columns column + 16 b
  float h[kSide][kSide];
  float g = 0.0F;  // coordinate number % kWidth, of every kGroups-th pair

  __device__ Thread() {
#pragma unroll
    for (int a = 0; a < kSide; ++a) {
#pragma unroll
      for (int b = 0; b < kSide; ++b) h[a][b] = 0.0F;
    }
  }
};

template <int kSide>
__device__ __forceinline__ void read_fragment(const float* staged, int thread,
                                              float (&out)[kSide]) {
  constexpr int kWord = Layout<kSide>::kWord;
#pragma unroll
  for (int word = 0; word < kSide / kWord; ++word) {
    const float* from = staged + word * (kSquare * kWord) + thread * kWord;
    if constexpr (kWord == 4) {
      const float4 x = *reinterpret_cast<const float4*>(from);
      out[4 * word] = x.x;
      out[4 * word + 1] = x.y;
      out[4 * word + 2] = x.z;
      out[4 * word + 3] = x.w;
    } else if constexpr (kWord == 2) {
      const float2 x = *reinterpret_cast<const float2*>(from);
      out[0] = x.x;
      out[1] = x.y;
    } else {
      out[0] = from[0];
    }
  }
}

// The thread's values of a bin, zero beyond the block: value i is coordinate number % kWidth of
// pair number / kWidth + i * kGroups.
template <int kSide>
__device__ __forceinline__ void load_values(const BlockArgs& a, const std::int32_t (&other)[kBin],
                                            int pairs, int number,
                                            float (&value)[Layout<kSide>::kLoads]) {
  using L = Layout<kSide>;
  const int c = number % L::kWidth;
#pragma unroll
  for (int i = 0; i < L::kLoads; ++i) {
    const int pair = number / L::kWidth + i * L::kGroups;
    value[i] =
        pair < pairs && c < a.count ? __ldg(a.y + other[pair] * a.stride + a.first + c) : 0.0F;
  }
}

// Lane `number` < 32's pair; weight and slope zero beyond the last.
struct Pair {
  float weight = 0.0F;
  float slope = 0.0F;
  __device__ void load(const BlockArgs& a, std::int64_t at, bool real) {
    weight = real ? __ldg(a.weights + at) : 0.0F;
    slope = real ? weight * a.predictions[at] - (1.0F + weight) : 0.0F;
  }
};

template <int kSide>
__device__ __forceinline__ void add_bin(const float* stage, const Bins& bins, int pairs,
                                        Thread<kSide>& t) {
  using L = Layout<kSide>;
#pragma unroll(kSide == 8 ? 1 : 2)
  for (int k = 0; k < pairs; ++k) {
    float down[kSide];
    float across[kSide];
    read_fragment<kSide>(stage + k * L::kWidth, t.row, down);
    read_fragment<kSide>(stage + k * L::kWidth, t.column, across);
    const float w = bins.weight[k];
#pragma unroll
    for (int a = 0; a < kSide; ++a) {
      const float scaled = w * down[a];
#pragma unroll
      for (int b = 0; b < kSide; ++b) t.h[a][b] = fmaf(scaled, across[b], t.h[a][b]);
    }
  }
  const float* own = stage + staged_position<kSide>(t.number % L::kWidth);
  for (int k = t.number / L::kWidth; k < pairs; k += L::kGroups) {
    t.g = fmaf(bins.slope[k], own[k * L::kWidth], t.g);
  }
}

// All pairs of a task into h and g. Shared memory is free after.
template <int kSide>
__device__ __forceinline__ void add_pairs(const BlockArgs& a, const als::RowTask& task,
                                          float* stage, Bins& bins, Thread<kSide>& t) {
  using L = Layout<kSide>;
  const int count = (task.count + kBin - 1) / kBin;
  const auto pairs_of = [&](int bin) {
    const int left = task.count - bin * kBin;
    return left < kBin ? left : kBin;  // negative beyond the last
  };
  const auto other_of = [&](int bin) {
    return t.number < pairs_of(bin) ? __ldg(a.others + task.begin + bin * kBin + t.number) : 0;
  };
  const bool keeps_pair = t.number < kBin;
  float value[L::kLoads];
  Pair pair;
  std::int32_t next = 0;
  if (keeps_pair) {
    bins.other[0][t.number] = other_of(0);
    next = other_of(1);
    pair.load(a, task.begin + t.number, t.number < pairs_of(0));
  }
  __syncthreads();
  load_values<kSide>(a, bins.other[0], pairs_of(0), t.number, value);
#pragma unroll 1
  for (int bin = 0; bin < count; ++bin) {
    float* to = stage + staged_position<kSide>(t.number % L::kWidth);
#pragma unroll
    for (int i = 0; i < L::kLoads; ++i) {
      to[(t.number / L::kWidth + i * L::kGroups) * L::kWidth] = value[i];
    }
    if (keeps_pair) {
      bins.weight[t.number] = pair.weight;
      bins.slope[t.number] = pair.slope;
      bins.other[(bin + 1) & 1][t.number] = next;
    }
    __syncthreads();
    load_values<kSide>(a, bins.other[(bin + 1) & 1], pairs_of(bin + 1), t.number, value);
    if (keeps_pair) {
      next = other_of(bin + 2);
      pair.load(a, task.begin + (bin + 1) * kBin + t.number, t.number < pairs_of(bin + 1));
    }
    add_bin<kSide>(stage, bins, pairs_of(bin), t);
    __syncthreads();
  }
}

// The gradient's groups, in their order: thread c < kWidth gets coordinate c.
template <int kSide>
__device__ __forceinline__ float whole_gradient(float* shared, const Thread<kSide>& t) {
  using L = Layout<kSide>;
  shared[t.number] = t.g;
  __syncthreads();
  float sum = 0.0F;
  if (t.number < L::kWidth) {
#pragma unroll
    for (int group = 0; group < L::kGroups; ++group) sum += shared[group * L::kWidth + t.number];
  }
  __syncthreads();
  return sum;
}

// h += G + l I of the block, and ones on the diagonal beyond it.
template <int kSide>
__device__ __forceinline__ void add_gram(const BlockArgs& a, float reg, Thread<kSide>& t) {
#pragma unroll
  for (int i = 0; i < kSide; ++i) {
    const int row = i * kSquare + t.row;
#pragma unroll
    for (int j = 0; j < kSide; ++j) {
      const int column = j * kSquare + t.column;
      if (row < a.count && column < a.count) {
        t.h[i][j] += __ldg(a.gram + (a.first + row) * a.stride + a.first + column);
        if (row == column) t.h[i][j] += reg;
      } else {
        t.h[i][j] = row == column ? 1.0F : 0.0F;
      }
    }
  }
}

// H = L D L^T without roots: after step k, column k of `triangle` has L_ik D_k, i >= k, and rhs[k +
// 1] is the forward substitution's, rhs being the right-hand side before. True if every pivot was
// positive. One barrier a step: no other thread reads the elements that a step writes.
template <int kSide>
__device__ __forceinline__ bool factorize(int count, float* triangle, float* rhs,
                                          Thread<kSide>& t) {
  using L = Layout<kSide>;
  bool positive = true;
#pragma unroll
  for (int b = 0; b < kSide; ++b) {
#pragma unroll 1
    for (int s = 0; s < kSquare; ++s) {
      const int k = b * kSquare + s;
      if (k >= count) break;
      float* column = triangle + column_begin(k, L::kWidth) - k;  // element i at column[i]
      if (t.column == s) {
#pragma unroll
        for (int a = b; a < kSide; ++a) {
          const int i = a * kSquare + t.row;
          if (i >= k) column[i] = t.h[a][b];
        }
      }
      __syncthreads();
      const float pivot = column[k];
      positive = positive && pivot > 0;
      const float inverse = 1.0F / pivot;
      float down[kSide];
#pragma unroll
      for (int a = b; a < kSide; ++a) {
        const int i = a * kSquare + t.row;
        down[a] = i > k ? column[i] : 0.0F;
      }
#pragma unroll
      for (int j = b; j < kSide; ++j) {
        const int at = j * kSquare + t.column;
        const float across = at > k ? column[at] * inverse : 0.0F;
#pragma unroll
        for (int a = b; a < kSide; ++a) t.h[a][j] = fmaf(-down[a], across, t.h[a][j]);
      }
      if (t.number > k && t.number < count) {
        rhs[t.number] = fmaf(-column[t.number] * inverse, rhs[k], rhs[t.number]);
      }
    }
  }
  __syncthreads();
  return positive;
}

// D L^T x = rhs, by the first warp; lane l has the coordinates l + 32 m. x replaces rhs.
template <int kSide>
__device__ __forceinline__ void substitute_back(int count, const float* triangle, float* rhs,
                                                const Thread<kSide>& t) {
  using L = Layout<kSide>;
  if (t.number >= 32) return;
  constexpr int kOwn = (L::kWidth + 31) / 32;
  const int lane = t.number;
  float own[kOwn];
#pragma unroll
  for (int m = 0; m < kOwn; ++m) own[m] = lane + 32 * m < count ? rhs[lane + 32 * m] : 0.0F;
#pragma unroll
  for (int m = kOwn - 1; m >= 0; --m) {
#pragma unroll 1
    for (int l = 31; l >= 0; --l) {
      const int k = 32 * m + l;
      if (k >= count) continue;
      const float x = __shfl_sync(kFullWarp, own[m], l) / triangle[column_begin(k, L::kWidth)];
      if (lane == l) own[m] = x;
#pragma unroll
      for (int n = 0; n <= m; ++n) {
        const int j = lane + 32 * n;
        if (j < k) own[n] = fmaf(-triangle[column_begin(j, L::kWidth) + k - j], x, own[n]);
      }
    }
  }
#pragma unroll
  for (int m = 0; m < kOwn; ++m) {
    if (lane + 32 * m < count) rhs[lane + 32 * m] = own[m];
  }
}

// From the sums over all pairs: `gradient` is coordinate `number` of thread `number`. Shared memory
// is free before.
template <int kSide>
__device__ __forceinline__ void finish_row(const BlockArgs& a, std::int64_t row, float gradient,
                                           float* shared, float* rhs, Thread<kSide>& t) {
  const float reg = a.regs[row];
  float* x = a.x + row * a.stride + a.first;
  float* step = a.step + row * a.step_stride;
  const bool owner = t.number < a.count;
  if (owner) rhs[t.number] = -(gradient + step[t.number] + reg * x[t.number]);
  add_gram<kSide>(a, reg, t);
  const bool positive = factorize<kSide>(a.count, shared, rhs, t);
  substitute_back<kSide>(a.count, shared, rhs, t);
  __syncthreads();
  if (!owner) return;
  // If H is not positive definite, the case must end as diverged.
  const float moved = positive ? rhs[t.number] : __int_as_float(0x7fffffff);
  x[t.number] += moved;
  step[t.number] = moved;
}

template <int kSide>
constexpr int kBlocksAProcessor = kSide == 8 ? 2 : 4;

template <int kSide>
__global__ void __launch_bounds__(kThreads, kBlocksAProcessor<kSide>)
    block_step_kernel(const BlockArgs a) {
  using L = Layout<kSide>;
  __shared__ __align__(16) float shared[L::kShared];
  __shared__ float rhs[L::kWidth];
  __shared__ Bins bins;
  const als::RowTask task = a.tasks[blockIdx.x];
  Thread<kSide> t;
  add_pairs<kSide>(a, task, shared, bins, t);
  const float gradient = whole_gradient<kSide>(shared, t);
  if (task.part < 0) {
    finish_row<kSide>(a, task.row, gradient, shared, rhs, t);
    return;
  }
  float* part = a.parts + task.part * part_floats(a.count);
#pragma unroll
  for (int i = 0; i < kSide; ++i) {
#pragma unroll
    for (int j = 0; j < kSide; ++j) part[(i * kSide + j) * kThreads + t.number] = t.h[i][j];
  }
  if (t.number < L::kWidth) part[kSide * kSide * kThreads + t.number] = gradient;
}

// A thread block a split row.
template <int kSide>
__global__ void __launch_bounds__(kThreads, kBlocksAProcessor<kSide>)
    add_parts_kernel(const BlockArgs a) {
  using L = Layout<kSide>;
  __shared__ __align__(16) float shared[L::kShared];
  __shared__ float rhs[L::kWidth];
  const als::SplitRow row = a.splits[blockIdx.x];
  const std::int64_t floats = part_floats(a.count);
  Thread<kSide> t;
  float gradient = 0.0F;
  for (int p = 0; p < row.parts; ++p) {
    const float* part = a.parts + (row.first_part + p) * floats;
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
#pragma unroll
      for (int j = 0; j < kSide; ++j) t.h[i][j] += part[(i * kSide + j) * kThreads + t.number];
    }
    if (t.number < L::kWidth) gradient += part[kSide * kSide * kThreads + t.number];
  }
  finish_row<kSide>(a, a.row_of_slot[row.slot], gradient, shared, rhs, t);
}

template <int kSide>
void launch(const BlockArgs& args, cudaStream_t stream) {
  block_step_kernel<kSide><<<static_cast<unsigned>(args.n_tasks), kThreads, 0, stream>>>(args);
  MF_CUDA_LAUNCHED("ials_pp block_step");
  if (args.n_splits == 0) return;
  add_parts_kernel<kSide><<<static_cast<unsigned>(args.n_splits), kThreads, 0, stream>>>(args);
  MF_CUDA_LAUNCHED("ials_pp add_parts");
}

}  // namespace

void launch_block_step(const BlockArgs& args, cudaStream_t stream) {
  if (args.n_tasks == 0) return;
  switch (tile_side(args.count)) {
    case 1:
      return launch<1>(args, stream);
    case 2:
      return launch<2>(args, stream);
    case 4:
      return launch<4>(args, stream);
    default:
      return launch<8>(args, stream);
  }
}

}  // namespace mf::ials
