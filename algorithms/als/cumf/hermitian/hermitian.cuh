// get_hermitian:  A_u = sum over the ratings (u, v) of theta_v theta_v^T  + lambda n_u I
//
// A thread block takes a task: a row of n ratings, or a part of one, whose sums hermitian.cu adds.
// Ratings come in bins of 32, whose rows of Theta are staged in shared memory; then each thread
// adds theta theta^T of its tile of T x T, in registers, for all of them. Tiles cover the lower
// half (tiles.hpp); small matrices are held several times over, each for a share of the ratings,
// and added at the end. A, both halves, goes through shared memory to leave as whole rows.
//
// A row of n ratings, f factors, A stored in values of s bytes: n f (f + 1) FLOPs (the lower half,
// 2 a multiply-add); read 4 n bytes of indices and 4 f n of rows (mostly from the L2 cache),
// written s f^2. A rating costs a thread 2 T reads from shared memory for T^2 multiply-adds; for f
// = 100, T = 10, 79 % of the threads' operations are in the lower half. NOTES.md has times.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "algorithms/als/cumf/hermitian/hermitian.hpp"
#include "algorithms/als/cumf/hermitian/tiles.hpp"
#include "algorithms/als/cumf/loads.cuh"
#include "algorithms/als/row_reg.hpp"

namespace mf::als {

constexpr unsigned kAllLanes = 0xffffffffU;

// Out = floats of one tile's side, from shared memory, in the widest reads.
template <class L>
__device__ __forceinline__ void read_fragment(const float* row, int tile, float (&out)[L::kSide]) {
  if constexpr (L::kSide == 10) {
    const auto* from = reinterpret_cast<const float2*>(row + tile * 10);
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      const float2 x = from[i];
      out[2 * i] = x.x;
      out[2 * i + 1] = x.y;
    }
  } else {
#pragma unroll
    for (int half = 0; half < L::kSide / 4; ++half) {
      const float4 x = *reinterpret_cast<const float4*>(row + L::element(tile, 4 * half));
      out[4 * half] = x.x;
      out[4 * half + 1] = x.y;
      out[4 * half + 2] = x.z;
      out[4 * half + 3] = x.w;
    }
  }
}

template <Load kLoad>
__device__ __forceinline__ float4 read_global(const float4* from) {
  if constexpr (kLoad == Load::noncoalesced_l1) return load_through_l1(from);
  return load_past_l1(from);
}

// The other side's row of rating `lane` of the bin that starts at rating `begin`.
__device__ __forceinline__ std::int32_t other_of_lane(const std::int32_t* others,
                                                      std::int64_t begin, int count) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  return lane < count ? __ldg(others + begin + lane) : 0;
}

// The root of the weight of rating `lane`: products of two scaled values have the weight.
template <bool kWeighted>
__device__ __forceinline__ float root_of_lane(const HermitianArgs& a, std::int64_t begin,
                                              int count) {
  if constexpr (!kWeighted) return 1.0F;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  return lane < count ? sqrtf(__ldg(a.weights + begin + lane)) : 0.0F;
}

// Figure 3 (a): a warp reads whole rows, one (or a few short ones) after the other. It reads past
// L1: all bytes of a load are used at once.
template <class L>
__device__ __forceinline__ void stage_coalesced(float* stage, const HermitianArgs& a,
                                                std::int32_t other, int count, int words) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int warp = static_cast<int>(threadIdx.x) >> 5;
  constexpr int kRowsATurn = L::kWarps * L::kRowsAtOnce;
  constexpr int kTurns = (L::kBin + kRowsATurn - 1) / kRowsATurn;
  const int rows = (count + L::kStep - 1) / L::kStep * L::kStep;
#pragma unroll 4
  for (int turn = 0; turn < kTurns; ++turn) {
    const int k = turn * kRowsATurn + warp * L::kRowsAtOnce + lane / L::kLanes;
    const std::int32_t v = __shfl_sync(kAllLanes, other, k & 31);
    if (k >= rows) continue;
    const auto* from = reinterpret_cast<const float4*>(a.theta + v * a.stride);
    auto* to = reinterpret_cast<float4*>(stage + k * L::kPitch);
    for (int word = lane % L::kLanes; word < words; word += L::kLanes) {
      to[word] = k < count ? read_global<Load::coalesced>(from + word) : float4{0, 0, 0, 0};
    }
  }
}

__device__ __forceinline__ float4 scaled(float4 x, float by) {
  return {x.x * by, x.y * by, x.z * by, x.w * by};
}

// Figure 3 (b): 32 threads read 32 rows at once, each its own; the warps share the words of a row.
// kWeighted: the lane's row is multiplied by `root`.
template <class L, Load kLoad, bool kWeighted>
__device__ __forceinline__ void stage_noncoalesced(float* stage, const HermitianArgs& a,
                                                   std::int32_t other, float root, int count,
                                                   int words) {
  const int k = static_cast<int>(threadIdx.x) & 31;
  const int warp = static_cast<int>(threadIdx.x) >> 5;
  const int rows = (count + L::kStep - 1) / L::kStep * L::kStep;
  if (k >= rows) return;
  auto* to = reinterpret_cast<float4*>(stage + k * L::kPitch);
  const auto* from = reinterpret_cast<const float4*>(a.theta + other * a.stride);
  const bool real = k < count;
  constexpr int kInFlight = L::kSide == 10 ? 7 : 4;
#pragma unroll 1
  for (int first = warp; first < words; first += kInFlight * L::kWarps) {
    float4 x[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int word = first + i * L::kWarps;
      x[i] = float4{0, 0, 0, 0};
      if (real && word < words) x[i] = read_global<kLoad>(from + word);
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int word = first + i * L::kWarps;
      if constexpr (kWeighted) x[i] = scaled(x[i], root);
      if (word < words) to[word] = x[i];
    }
  }
}

// The tile of a thread, and its place in A.
template <class L>
struct Tile {
  int group;  // ratings group, group + kSplit, ... of a bin
  int lane;   // in the group
  Quad quad;
  int row, column;  // of tiles
  bool active;
  float sum[L::kSide][L::kSide];

  __device__ Tile() {
    const int thread = static_cast<int>(threadIdx.x);
    group = thread / L::kGroup;
    lane = thread - group * L::kGroup;
    active = group < L::kSplit;
    quad = quad_at(lane >> 2);
    row = 2 * quad.row + ((lane >> 1) & 1);
    column = 2 * quad.column + (lane & 1);
#pragma unroll
    for (int i = 0; i < L::kSide; ++i) {
#pragma unroll
      for (int j = 0; j < L::kSide; ++j) sum[i][j] = 0.0F;
    }
  }
};

template <class L>
__device__ __forceinline__ void add_products(const float* stage, int count, Tile<L>& tile) {
  if (!tile.active) return;
  const float* row = stage + tile.group * L::kPitch;
#pragma unroll 1
  for (int k = 0; k < count; k += L::kStep) {
#pragma unroll
    for (int u = 0; u < L::kUnroll; ++u) {
      float a[L::kSide];
      float b[L::kSide];
      read_fragment<L>(row + u * L::kSplit * L::kPitch, tile.row, a);
      read_fragment<L>(row + u * L::kSplit * L::kPitch, tile.column, b);
#pragma unroll
      for (int i = 0; i < L::kSide; ++i) {
#pragma unroll
        for (int j = 0; j < L::kSide; ++j) tile.sum[i][j] = fmaf(a[i], b[j], tile.sum[i][j]);
      }
    }
    row += L::kStep * L::kPitch;
  }
}

// Adds the tiles of the groups, in an order that is always the same, into group 0. Shared memory is
// free before and after.
template <class L>
__device__ __forceinline__ void add_groups(float* shared, Tile<L>& tile) {
#pragma unroll
  for (int half = L::kSplit / 2; half > 0; half /= 2) {
    const int every = half * L::kGroup;
    if (tile.active && tile.group >= half && tile.group < 2 * half) {
      float* to = shared + (tile.group - half) * L::kGroup + tile.lane;
#pragma unroll
      for (int i = 0; i < L::kSide; ++i) {
#pragma unroll
        for (int j = 0; j < L::kSide; ++j) to[(i * L::kSide + j) * every] = tile.sum[i][j];
      }
    }
    __syncthreads();
    if (tile.group < half) {
      const float* from = shared + tile.group * L::kGroup + tile.lane;
#pragma unroll
      for (int i = 0; i < L::kSide; ++i) {
#pragma unroll
        for (int j = 0; j < L::kSide; ++j) tile.sum[i][j] += from[(i * L::kSide + j) * every];
      }
    }
    __syncthreads();
  }
}

// Largest diagonal element of A, in all threads. Values are not negative, so that their bits order
// as they do.
template <class L>
__device__ __forceinline__ float largest_diagonal(const Tile<L>& tile, int factors,
                                                  float diagonal) {
  __shared__ int largest;
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  if (tile.group == 0 && tile.row == tile.column) {
    float most = 0.0F;
#pragma unroll
    for (int i = 0; i < L::kSide; ++i) {
      if (L::element(tile.row, i) < factors) most = fmaxf(most, tile.sum[i][i] + diagonal);
    }
    atomicMax(&largest, __float_as_int(most));
  }
  __syncthreads();
  return __int_as_float(largest);
}

// `out` rows of a slab, from a tile or from the mirror image of one.
template <class L, bool kMirror>
__device__ __forceinline__ void write_to_slab(float* slab, const Tile<L>& tile) {
  const int parity = (kMirror ? tile.column : tile.row) & 1;
  const int across = kMirror ? tile.row : tile.column;
  constexpr int kWord = L::kSide == 10 ? 2 : 4;
#pragma unroll
  for (int i = 0; i < L::kSide; ++i) {
    float* row = slab + L::slab_row(parity, i) * L::kPitch;
#pragma unroll
    for (int j = 0; j < L::kSide; j += kWord) {
      float* to = row + L::element(across, j);
      const auto value = [&](int k) { return kMirror ? tile.sum[j + k][i] : tile.sum[i][j + k]; };
      if constexpr (kWord == 2) {
        *reinterpret_cast<float2*>(to) = float2{value(0), value(1)};
      } else {
        *reinterpret_cast<float4*>(to) = float4{value(0), value(1), value(2), value(3)};
      }
    }
  }
}

__device__ __forceinline__ float4 with_diagonal(float4 x, int row, int first_column, float add) {
  const int at = row - first_column;
  if (at == 0) x.x += add;
  if (at == 1) x.y += add;
  if (at == 2) x.z += add;
  if (at == 3) x.w += add;
  return x;
}

__device__ __forceinline__ float4 add4(float4 a, float4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

__device__ __forceinline__ uint4 to_half8(float4 low, float4 high, float factor) {
  const __half2 h[4] = {__floats2half2_rn(low.x * factor, low.y * factor),
                        __floats2half2_rn(low.z * factor, low.w * factor),
                        __floats2half2_rn(high.x * factor, high.y * factor),
                        __floats2half2_rn(high.z * factor, high.w * factor)};
  uint4 out;
  out.x = *reinterpret_cast<const unsigned*>(&h[0]);
  out.y = *reinterpret_cast<const unsigned*>(&h[1]);
  out.z = *reinterpret_cast<const unsigned*>(&h[2]);
  out.w = *reinterpret_cast<const unsigned*>(&h[3]);
  return out;
}

// Columns 4 word ... 4 word + 3 of row `row` of A; zero beyond the layout's width.
template <class L>
__device__ __forceinline__ float4 slab_word(const float* slab_row, int row, int word,
                                            float diagonal) {
  if (word >= L::kWords) return float4{0, 0, 0, 0};
  return with_diagonal(*reinterpret_cast<const float4*>(slab_row + 4 * word), row, 4 * word,
                       diagonal);
}

// Target and form of a task's matrix.
struct Destination {
  float* wide = nullptr;        // fp32
  __half* narrow = nullptr;     // or fp16
  float factor = 1;             // of fp16
  float diagonal = 0;           // added
  const float* base = nullptr;  // kWeighted: added if not null
};

template <class L, bool kWeighted>
__device__ __forceinline__ void write_slab(const float* slab, int quad_row, int factors,
                                           const Destination& to) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int warp = static_cast<int>(threadIdx.x) >> 5;
  const int words = (factors + 3) / 4;
  for (int s = warp * L::kRowsAtOnce + lane / L::kLanes; s < 2 * L::kSide;
       s += L::kWarps * L::kRowsAtOnce) {
    const int row = L::slab_element(quad_row, s);
    if (row >= factors) continue;
    const float* from = slab + s * L::kPitch;
    if (to.wide != nullptr) {
      auto* out = reinterpret_cast<float4*>(to.wide) + std::int64_t{row} * words;
      for (int word = lane % L::kLanes; word < words; word += L::kLanes) {
        float4 x = slab_word<L>(from, row, word, to.diagonal);
        if constexpr (kWeighted) {
          if (to.base != nullptr) {
            x = add4(x, __ldg(reinterpret_cast<const float4*>(to.base) + row * words + word));
          }
        }
        out[word] = x;
      }
    } else {
      const int pairs = (words + 1) / 2;
      auto* out = reinterpret_cast<uint4*>(to.narrow) + std::int64_t{row} * pairs;
      for (int pair = lane % L::kLanes; pair < pairs; pair += L::kLanes) {
        out[pair] = to_half8(slab_word<L>(from, row, 2 * pair, to.diagonal),
                             slab_word<L>(from, row, 2 * pair + 1, to.diagonal), to.factor);
      }
    }
  }
}

// Both halves of A go through shared memory, 2 T rows at a time, so that global memory gets whole
// rows. Shared memory is free before.
template <class L, bool kWeighted>
__device__ __forceinline__ void write_matrix(float* slab, const Tile<L>& tile, int factors,
                                             const Destination& to) {
#pragma unroll 1
  for (int quad_row = 0; quad_row < L::kQuadRows; ++quad_row) {
    if (L::slab_element(quad_row, 0) >= factors) break;
    if (tile.group == 0) {
      if (tile.quad.row == quad_row) {
        write_to_slab<L, false>(slab, tile);
      } else if (tile.quad.column == quad_row) {
        write_to_slab<L, true>(slab, tile);
      }
    }
    __syncthreads();
    write_slab<L, kWeighted>(slab, quad_row, factors, to);
    __syncthreads();
  }
}

// But for the factor of fp16.
__device__ __forceinline__ Destination place_of(const HermitianArgs& a, const RowTask& task) {
  Destination to;
  if (task.part >= 0) {  // lambda is added when the parts are
    to.wide = a.parts + task.part * a_values(AStorage::fp32, a.factors);
    return to;
  }
  to.diagonal = row_reg(a.reg, a.reg_power, task.count);
  const std::int64_t at = task.slot * a_values(a.storage, a.factors);
  if (a.storage == AStorage::fp32) {
    to.wide = static_cast<float*>(a.a) + at;
    to.base = a.base;
  } else {
    to.narrow = static_cast<__half*>(a.a) + at;
  }
  return to;
}

template <class L>
__device__ __forceinline__ Destination destination(const HermitianArgs& a, const RowTask& task,
                                                   const Tile<L>& tile) {
  Destination to = place_of(a, task);
  if (to.narrow == nullptr) return to;
  const int exponent = fp16_exponent(largest_diagonal<L>(tile, a.factors, to.diagonal));
  to.factor = ldexpf(1.0F, exponent);
  if (threadIdx.x == 0) a.scale[task.slot] = ldexpf(1.0F, -exponent);
  return to;
}

template <class L>
__device__ __forceinline__ void zero_stage(float* shared, int floats) {
  for (int i = static_cast<int>(threadIdx.x); i < floats; i += L::kThreads) shared[i] = 0.0F;
  __syncthreads();
}

template <class L, Load kLoad, bool kWeighted>
__global__ void __launch_bounds__(L::kThreads, L::kBlocks)
    hermitian_kernel(const HermitianArgs a, const HermitianPart part) {
  extern __shared__ __align__(16) float shared[];
  static_assert(!kWeighted || kLoad != Load::coalesced, "rows are scaled in registers");
  const RowTask task = a.tasks[blockIdx.x];
  const int words = (a.factors + 3) / 4;
  const int bins = (task.count + L::kBin - 1) / L::kBin;
  const auto bin_count = [&](int bin) {
    const int left = task.count - bin * L::kBin;
    return left < L::kBin ? left : L::kBin;  // negative beyond the last
  };
  const auto bin_begin = [&](int bin) { return task.begin + std::int64_t{bin} * L::kBin; };

  Tile<L> tile;
  if (words < L::kWords) zero_stage<L>(shared, L::kStage);  // columns never staged
  std::int32_t other = other_of_lane(a.others, bin_begin(0), bin_count(0));
  float root = root_of_lane<kWeighted>(a, bin_begin(0), bin_count(0));
  for (int bin = 0; bin < bins; ++bin) {
    if (bin == 0 || part != HermitianPart::compute) {
      if constexpr (kLoad == Load::coalesced) {
        stage_coalesced<L>(shared, a, other, bin_count(bin), words);
      } else {
        stage_noncoalesced<L, kLoad, kWeighted>(shared, a, other, root, bin_count(bin), words);
      }
      other = other_of_lane(a.others, bin_begin(bin + 1), bin_count(bin + 1));
      root = root_of_lane<kWeighted>(a, bin_begin(bin + 1), bin_count(bin + 1));
    }
    __syncthreads();
    if (part != HermitianPart::load) add_products<L>(shared, bin_count(bin), tile);
    __syncthreads();
  }
  if (part == HermitianPart::load) return;
  if constexpr (L::kSplit > 1) add_groups<L>(shared, tile);
  if (part != HermitianPart::all) return;
  write_matrix<L, kWeighted>(shared, tile, a.factors, destination<L>(a, task, tile));
}

}  // namespace mf::als
