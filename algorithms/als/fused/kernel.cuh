// als_fused's kernel:  (sum theta_v theta_v^T + lambda n_u I) x_u = sum r_uv theta_v,  formed and
// solved for one row after another, without A in memory.
//
// A thread block of 1 to 8 warps (fused_warps) takes tasks: rows, or parts of long ones. Ratings
// and the fp16 rows of Theta they name travel to shared memory ahead of their use, 64 ratings a
// tile. The tensor cores add Theta^T Theta: A lies in 16 x 16 blocks, lower half, in the registers,
// each warp with whole block rows (fused_map). If a padded row has room, the rating stands in it,
// and b is a row of the product; otherwise b takes a product more for each block row. CG (cg.cuh)
// then multiplies by A in place. Parts of a split row meet in device memory: the block that comes
// last adds them and solves. Weighted, for ials_fused, it is
//   (sum w theta theta^T + reg I) x = sum (w + beside) theta.
//
// A row of n ratings, f factors, NT block rows of 16, w words (1: fp16, 2: fp16x2): read 8 n bytes
// of ratings, 2 w f n of gathered rows (mostly from the L2 cache), 4 f of x; written 4 f + 2 w f.
// FLOPs as done: 4,096 for each product of 16 x 8 x 16, NT (NT + 1) of them (three times as many
// with two words) for 16 ratings, of which n (f (f + 1) + 2 f) are needed. NOTES.md derives the
// floors.
#pragma once

#include "algorithms/als/fused/cg.cuh"
#include "algorithms/als/fused/ptx.cuh"
#include "algorithms/als/fused/shape.cuh"
#include "algorithms/als/fused/store_row.cuh"
#include "algorithms/als/fused/turns.cuh"
#include "algorithms/als/row_reg.hpp"

namespace mf::als {

template <class Shape>
class FusedRow {
 public:
  __device__ FusedRow(const FusedSide& side, const FusedRule& rule, FusedShared<Shape>& shared)
      : side_(side),
        rule_(rule),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x % 32)),
        role_(static_cast<int>((threadIdx.x / 32 + blockIdx.x) % Shape::kWarps)) {
    const auto word = threadIdx.x % Shape::kLanes * 16;
    high_ = reinterpret_cast<const char*>(side.from.high) + word;
    asm volatile("" : "+l"(high_));
    const unsigned low = threadIdx.x / 8 % 2;
    const unsigned high = threadIdx.x / 16 % 2;
    const unsigned swizzle = Shape::swizzle(threadIdx.x);
    left_from_ = (threadIdx.x % 8 + high * 8) * Shape::kPitch + (low ^ swizzle) * 16;
    right_from_ = (threadIdx.x % 8 + low * 8) * Shape::kPitch + (high ^ swizzle) * 16;
    asm volatile("" : "+r"(left_from_), "+r"(right_from_));
  }

  __device__ __forceinline__ void run() {
    if (static_cast<std::int64_t>(blockIdx.x) >= side_.n_tasks) return;
    copy_task(0, blockIdx.x);
    copy_task(1, std::int64_t{blockIdx.x} + gridDim.x);
    claim();
    wait_copies();
    __syncthreads();
    copy_entries(run_of(0), 0, shared_.first);
    wait_copies();
    __syncthreads();
    start(0);
    for (std::int32_t turn = 0; exists(turn); ++turn) {
      const FusedTask& task = shared_.tasks[turn % kTasks];
      Accumulators<Shape> sums = {};
      form(turn, sums);
      wait_copies();
      if (task.parts == 1) share(sums);
      __syncthreads();  // all warps have done with the tiles
      if (exists(turn + 1)) start(turn + 1);
      if ((task.parts > 1 || side_.keep) && !merge(task, sums)) continue;
      solve(task, sums);
    }
  }

 private:
  static constexpr int kTiles = Shape::kTiles;
  static constexpr int kTasks = FusedShared<Shape>::kTasks;
  static constexpr int kStages = Shape::kStages;

  __device__ __forceinline__ bool exists(std::int32_t turn) const {
    return is_task(shared_.tasks[turn % kTasks]);
  }

  // ---- the pipeline: tasks, then ratings, then the rows they name, then the sums ----

  // Thread 0: the task of the turn after next but one.
  __device__ __forceinline__ void claim() { claim_task(side_, claimed_); }
  __device__ __forceinline__ void copy_task(std::int32_t turn, std::int64_t task) {
    fetch_task(side_, task, &shared_.tasks[turn % kTasks]);
  }

  // The ratings of a task.
  struct Run {
    const FusedEntry* entries;
    std::int32_t count;
  };
  __device__ __forceinline__ Run run_of(std::int32_t turn) const {
    const FusedTask& task = shared_.tasks[turn % kTasks];
    return {side_.entries + task.begin, task.count};
  }

  __device__ __forceinline__ void copy_entries(const Run& run, int tile, FusedEntry* to) const {
#pragma unroll
    for (int i = 0; i < kDepth; i += Shape::kThreads) {
      const int k = i + static_cast<int>(threadIdx.x);
      if (k < kDepth && tile * kDepth + k < run.count) {
        copy_8(shared_address(to + k), run.entries + tile * kDepth + k);
      }
    }
  }

  // The first tile of a task, whose ratings are there, and the ratings of the second.
  __device__ __forceinline__ void start(std::int32_t turn) {
    const Run run = run_of(turn);
    if (run.count > 0) copy_tile(0, run.count, shared_.first);
    copy_entries(run, 1, shared_.entries[1]);
    commit_copies();
  }

  // After the barrier in front of `tile`: the next tile, whose ratings are there, and the ratings
  // of the one after it.
  __device__ __forceinline__ void copy_next(const Run& run, int tile) {
    const int next = tile + 1;
    if (next * kDepth < run.count) copy_tile(next, run.count, shared_.entries[next % 2]);
    copy_entries(run, next + 1, shared_.entries[(next + 1) % 2]);
    commit_copies();
  }

  // kLanes lanes have a row of the tile, 16 bytes each, and after it the next, until their share.
  // Rows past the end, up to a whole step, are zero.
  __device__ __forceinline__ void copy_tile(int tile, int count, const FusedEntry* entries) {
    constexpr int kShare = kDepth / (Shape::kThreads / Shape::kLanes);
    const int slot = tile % kStages;
    const int word = static_cast<int>(threadIdx.x % Shape::kLanes);
    const int first = static_cast<int>(threadIdx.x / Shape::kLanes) * kShare;
    const int left = count - tile * kDepth;
    if (word * 8 < rule_.factors) {
      const std::uint32_t to =
          shared_address(shared_.tiles[slot][0]) + first * Shape::kPitch + word * 16;
      copy_words<kShare>(to, word, entries + first, left - first);
      if (left < kDepth) clear_words(slot, word, left);
    }
#pragma unroll
    for (int i = 0; i < kDepth; i += Shape::kThreads) {
      const int k = i + static_cast<int>(threadIdx.x);
      if (k < kDepth) put_rating(slot, k, k < left ? entries[k].rating : 0);
    }
  }

  // Indices first, then the copies: between them, ptxas adds dummy loads for sm_90.
  template <int Share>
  __device__ __forceinline__ void copy_words(std::uint32_t to, int word, const FusedEntry* entries,
                                             int left) const {
    constexpr int kAtOnce = Share < 8 ? Share : 8;
    static_assert(Share % kAtOnce == 0 && kAtOnce % 2 == 0);
    // A compile-time number if shares are whole eights.
    const unsigned shift = Share % 8 == 0 ? 0 : threadIdx.x / Shape::kLanes * Share;
    const char* high = high_;
    const char* low = reinterpret_cast<const char*>(side_.from.low) + word * 16;
#pragma unroll
    for (int begin = 0; begin < Share; begin += kAtOnce) {
      int others[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; j += 2) {
        const int4 two = *reinterpret_cast<const int4*>(entries + begin + j);
        others[j] = two.x;
        others[j + 1] = two.z;
      }
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const int k = begin + j;
        const std::uint32_t at = (to ^ Shape::swizzle(shift + k) * 16) + k * Shape::kPitch;
        copy_16_if(k < left, at, row_address<Shape::kMemoryStride * 2>(high, others[j]));
        if constexpr (Shape::kTwoWords) {
          copy_16_if(k < left, at + Shape::kTileBytes,
                     row_address<Shape::kMemoryStride * 2>(low, others[j]));
        }
      }
    }
  }

  __device__ __forceinline__ void clear_words(int slot, int word, int left) {
    const int end = (left + 15) / 16 * 16;
    for (int k = left + static_cast<int>(threadIdx.x) / Shape::kLanes; k < end;
         k += Shape::kThreads / Shape::kLanes) {
#pragma unroll
      for (int w = 0; w < Shape::kWords; ++w)
        *reinterpret_cast<uint4*>(word_at(slot, w, k, word)) = {0, 0, 0, 0};
    }
  }

  __device__ __forceinline__ unsigned char* word_at(int slot, int table, int k, int word) {
    return shared_.tiles[slot][table] + k * Shape::kPitch + (word ^ Shape::swizzle(k)) * 16;
  }

  __device__ __forceinline__ void put_rating(int slot, int k, std::uint32_t rating) {
    if constexpr (Shape::kFree) {
      *reinterpret_cast<std::uint32_t*>(word_at(slot, 0, k, Shape::kRatingAt / 8)) = rating;
    } else {
      shared_.ratings[slot][k] = rating;
    }
  }

  __device__ __forceinline__ void form(std::int32_t turn, Accumulators<Shape>& sums) {
    const Run run = run_of(turn);
    if (run.count == 0) copy_ahead(turn);
    for (int tile = 0; tile * kDepth < run.count; ++tile) {
      wait_copies();
      __syncthreads();  // all threads' copies; and the tile before is free
      if (tile == 0) copy_ahead(turn);
      copy_next(run, tile);
      add_tile(tile % kStages, run.count - tile * kDepth, sums);
    }
  }

  // Fetches the data of the next turns on the way.
  __device__ __forceinline__ void copy_ahead(std::int32_t turn) {
    copy_task(turn + 2, std::int64_t{claimed_} + 2 * std::int64_t{gridDim.x});
    claim();
    copy_start(shared_.tasks[turn % kTasks]);
    if (exists(turn + 1)) copy_entries(run_of(turn + 1), 0, shared_.first);
  }

  __device__ __forceinline__ void add_tile(int slot, int left, Accumulators<Shape>& sums) {
    // Lane l gives the address of row l % 8 of matrix l / 8. As a left operand: two side by side,
    // then the two below them; as two right ones: two below each other, then those beside them.
    const std::uint32_t tile = shared_address(shared_.tiles[slot][0]);
    const std::uint32_t left_from = tile + left_from_;
    const std::uint32_t right_from = tile + right_from_;
    with_role<Shape::kWarps>(role_, [&](auto role) {
      if (left > kDepth - 16) {  // no branch between its steps
#pragma unroll
        for (int step = 0; step < kDepth; step += 16) {
          this->template add_step<role>(left_from, right_from, step * Shape::kPitch,
                                        shared_.ratings[slot] + step, sums);
        }
        return;
      }
#pragma unroll
      for (int step = 0; step < kDepth; step += 16) {
        if (step < left) {
          this->template add_step<role>(left_from, right_from, step * Shape::kPitch,
                                        shared_.ratings[slot] + step, sums);
        }
      }
    });
  }

  // Sixteen ratings as a 16 x 8 operand: column 0 their first words, column 1 the second.
  __device__ __forceinline__ void rating_words(const std::uint32_t* ratings,
                                               std::uint32_t (&r)[2]) const {
    const int g = lane_ / 4;
    const unsigned choice = g == 0 ? 0x5410U : 0x7632U;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint2 pair = *reinterpret_cast<const uint2*>(ratings + half * 8 + lane_ % 4 * 2);
      r[half] = g < 2 ? __byte_perm(pair.x, pair.y, choice) : 0U;
    }
  }

  // The weights of a lane's ratings in a fragment: 2t, 2t + 1 and the same eight further.
  struct Weights {
    std::uint32_t high[2], low[2];
  };

  // Sixteen weights: the lane's, and for b a 16 x 8 operand: columns 0 and 1 their words, column 2
  // b's addend of each.
  __device__ __forceinline__ void weight_words(const std::uint32_t* ratings, Weights& weights,
                                               std::uint32_t (&r)[2]) const {
    const int g = lane_ / 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint2 pair = *reinterpret_cast<const uint2*>(ratings + half * 8 + lane_ % 4 * 2);
      weights.high[half] = __byte_perm(pair.x, pair.y, 0x5410U);
      weights.low[half] = __byte_perm(pair.x, pair.y, 0x7632U);
      r[half] = g == 0   ? weights.high[half]
                : g == 1 ? weights.low[half]
                : g == 2 ? rule_.beside
                         : 0U;
    }
  }

  using Fragment = std::uint32_t[4];

  // A left operand, its ratings times their weights. Words 0 and 1 of a fragment are of the lane's
  // first two ratings. With two words, the product's are h and the rest, which is exact.
  __device__ __forceinline__ static void weigh(Fragment (&row)[Shape::kWords],
                                               const Weights& weights) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const __half2 w = halves(weights.high[i / 2]);
      const __half2 high = halves(row[0][i]);
      const __half2 product = __hmul2(w, high);
      row[0][i] = bits(product);
      if constexpr (Shape::kWords == 2) {
        __half2 rest = __hfma2(w, high, __hneg2(product));
        rest = __hfma2(w, halves(row[1][i]), rest);
        rest = __hfma2(halves(weights.low[i / 2]), high, rest);
        row[1][i] = bits(rest);
      }
    }
  }
  __device__ __forceinline__ static __half2 halves(std::uint32_t word) {
    return *reinterpret_cast<const __half2*>(&word);
  }
  __device__ __forceinline__ static std::uint32_t bits(__half2 pair) {
    return *reinterpret_cast<const std::uint32_t*>(&pair);
  }

  // The address of a word of a block column, from its address in block column 0.
  __device__ __forceinline__ static std::uint32_t column_at(std::uint32_t from, int column) {
    constexpr int kColumns = Shape::kSwizzle / 2;
    return (from ^ column % kColumns * 32) + column / kColumns * (kColumns * 32);
  }

  // `column` has two right operands, 8 factors each.
  __device__ __forceinline__ static void add_block(float* a, const Fragment& row,
                                                   const Fragment& column) {
    multiply_add(a, row, column[0], column[1]);
    multiply_add(a + 4, row, column[2], column[3]);
  }

  template <int Role>
  __device__ __forceinline__ void add_step(std::uint32_t left_from, std::uint32_t right_from,
                                           int offset, const std::uint32_t* ratings,
                                           Accumulators<Shape>& sums) {
    constexpr int kWords = Shape::kWords;
    std::uint32_t r[2];
    [[maybe_unused]] Weights weights;
    if constexpr (Shape::kWeighted) {
      weight_words(ratings, weights, r);
    } else if constexpr (!Shape::kFree) {
      rating_words(ratings, r);
    }
    Fragment left[Shape::kMap.rows][kWords];
    for_rows<Shape, Role>([&](auto row) {
#pragma unroll
      for (int word = 0; word < kWords; ++word) {
        load_transposed(left[Shape::kMap.ordinal[row]][word],
                        column_at(left_from, row) + word * Shape::kTileBytes + offset);
      }
    });
    constexpr int kColumns = Shape::kMap.columns[Role];
    Fragment right[kColumns][kWords];
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
#pragma unroll
      for (int word = 0; word < kWords; ++word) {
        load_transposed(right[column][word],
                        column_at(right_from, column) + word * Shape::kTileBytes + offset);
      }
    }
    if constexpr (!Shape::kFree) {
      for_rows<Shape, Role>([&](auto row) {
#pragma unroll
        for (int word = 0; word < kWords; ++word) {
          multiply_add(sums.b[Shape::kMap.ordinal[row]], left[Shape::kMap.ordinal[row]][word], r[0],
                       r[1]);
        }
      });
    }
    if constexpr (Shape::kWeighted) {
      for_rows<Shape, Role>([&](auto row) { weigh(left[Shape::kMap.ordinal[row]], weights); });
    }
    for_blocks<Shape, Role>([&](auto row, auto column, auto slot) {
      add_products(sums.a[slot], left[Shape::kMap.ordinal[row]], right[column]);
    });
  }

  // With two words: high high + high low + low high; low low is below fp32.
  __device__ __forceinline__ static void add_products(float* a,
                                                      const Fragment (&row)[Shape::kWords],
                                                      const Fragment (&column)[Shape::kWords]) {
    add_block(a, row[0], column[0]);
    if constexpr (Shape::kWords == 2) {
      add_block(a, row[0], column[1]);
      add_block(a, row[1], column[0]);
    }
  }

  // ---- rows that several thread blocks share ----

  __device__ __forceinline__ float* slot(const FusedTask& task, int part) const {
    constexpr std::int64_t kFloats = std::int64_t{Shape::kSlotFloats} * Shape::kThreads;
    return side_.scratch + (std::int64_t{task.first_slot} + part) * kFloats + role_ * 32 + lane_;
  }

  template <class Body>
  __device__ __forceinline__ static void for_each_float(Accumulators<Shape>& sums, Body&& body) {
    int at = 0;
#pragma unroll
    for (int s = 0; s < Shape::kSlots; ++s) {
#pragma unroll
      for (int i = 0; i < 8; ++i) body(sums.a[s][i], (at++) * Shape::kThreads);
    }
#pragma unroll
    for (int i = 0; i < (Shape::kFree ? 0 : 4 * Shape::kMap.rows); ++i) {
      body(sums.b[i / 4][i % 4], (at++) * Shape::kThreads);
    }
  }

  // True for the block that came last: it then has the sums of all parts, added in their order,
  // and has shared them.
  __device__ __forceinline__ bool merge(const FusedTask& task, Accumulators<Shape>& sums) {
    float* mine = slot(task, task.part);
    for_each_float(sums, [&](float& value, int at) { __stcg(mine + at, value); });
    if (side_.keep) return false;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      const std::uint32_t before = atomicAdd(side_.arrived + task.first_slot, 1U);
      shared_.last = before + 1 == static_cast<std::uint32_t>(task.parts);
      if (shared_.last) side_.arrived[task.first_slot] = 0;
      __threadfence();
    }
    __syncthreads();
    if (!shared_.last) return false;
    for_each_float(sums, [&](float& value, int) { value = 0; });
    for (int part = 0; part < task.parts; ++part) {
      const float* from = slot(task, part);
      for_each_float(sums, [&](float& value, int at) { value += __ldcg(from + at); });
    }
    share(sums);
    __syncthreads();
    return true;
  }

  // ---- the solver ----

  // Shares with all warps b and the largest element of A, which is on the diagonal. If the rating
  // stands beside the factors, the sum of its squares is on the diagonal too.
  __device__ __forceinline__ void share(const Accumulators<Shape>& sums) {
    if constexpr (Shape::kFree) {
      constexpr int kRole = Shape::kMap.warp[kTiles - 1];
      if (role_ == kRole) share_rating_row(sums);
    } else if constexpr (Shape::kWeighted) {
      share_weighted_b(sums);
    } else {
      share_b(sums);
    }
    float largest = 0;
    with_role<Shape::kWarps>(role_, [&](auto role) {
      for_rows<Shape, role>([&](auto row) {
        const float* a = sums.a[Shape::kMap.first_slot[row] + row];
#pragma unroll
        for (int i = 0; i < 8; ++i) largest = fmaxf(largest, a[i]);
      });
    });
    const unsigned bits = warp_largest(__float_as_uint(largest));
    if (lane_ == 0) shared_.largest[threadIdx.x / 32] = __uint_as_float(bits);
  }

  __device__ __forceinline__ void share_b(const Accumulators<Shape>& sums) {
    if (lane_ % 4 != 0) return;  // these lanes have columns 0 and 1, the two words of the ratings
    with_role<Shape::kWarps>(role_, [&](auto role) {
      for_rows<Shape, role>([&](auto row) {
        const float* b = sums.b[Shape::kMap.ordinal[row]];
        float* to = shared_.b + row * kFusedTile + lane_ / 4;
        to[0] = b[0] + b[1];
        to[8] = b[2] + b[3];
      });
    });
  }

  // Column 2 is in the neighbours of the lanes that have columns 0 and 1.
  __device__ __forceinline__ void share_weighted_b(const Accumulators<Shape>& sums) {
    with_role<Shape::kWarps>(role_, [&](auto role) {
      for_rows<Shape, role>([&](auto row) {
        const float* b = sums.b[Shape::kMap.ordinal[row]];
        float upper = b[0] + b[1];
        float lower = b[2] + b[3];
        upper += __shfl_xor_sync(0xffffffffU, upper, 1);
        lower += __shfl_xor_sync(0xffffffffU, lower, 1);
        if (lane_ % 4 != 0) return;
        float* to = shared_.b + row * kFusedTile + lane_ / 4;
        to[0] = upper;
        to[8] = lower;
      });
    });
  }

  // Rows 8 and 9 of the last block row are the products with the two words of the ratings.
  __device__ __forceinline__ void share_rating_row(const Accumulators<Shape>& sums) {
    constexpr int kFirst = Shape::kMap.first_slot[kTiles - 1];
    const int t = lane_ % 4;
#pragma unroll
    for (int column = 0; column < kTiles; ++column) {
      const float* a = sums.a[kFirst + column];
      float b[4] = {a[2], a[3], a[6], a[7]};
#pragma unroll
      for (float& x : b) x += __shfl_xor_sync(0xffffffffU, x, 4);
      if (lane_ >= 4) continue;
      const bool last = column == kTiles - 1;
      float2* to = reinterpret_cast<float2*>(shared_.b + column * kFusedTile + 2 * t);
      to[0] = {b[0], b[1]};
      to[4] = last ? float2{0, 0} : float2{b[2], b[3]};
    }
  }

  __device__ __forceinline__ void copy_start(const FusedTask& task) {
    const float* row = side_.rows + std::int64_t{task.row} * side_.rows_stride;
    const int stride = static_cast<int>(side_.rows_stride);
#pragma unroll
    for (int begin = 0; begin < Shape::kVector; begin += 4 * Shape::kThreads) {
      const int i = begin + 4 * static_cast<int>(threadIdx.x);
      if (i < stride) copy_16(shared_address(shared_.x + i), row + i);
    }
  }

  __device__ __forceinline__ void solve(const FusedTask& task, const Accumulators<Shape>& sums) {
    float largest = shared_.largest[0];
#pragma unroll
    for (int w = 1; w < Shape::kWarps; ++w) largest = fmaxf(largest, shared_.largest[w]);
    FusedCg<Shape> cg(shared_, sums, largest, role_,
                      row_reg(rule_.reg, rule_.reg_power, task.row_count));
    FusedVector<Shape> x;
    cg.load(shared_.x, x);
    scale(x, rule_.down);
    cg.solve(x, rule_.steps, rule_.tolerance);
    if (threadIdx.x < 32) store_row(side_, rule_, task, lane_, x);
  }

  const FusedSide& side_;
  const FusedRule& rule_;
  FusedShared<Shape>& shared_;
  int lane_;
  int role_;  // turned with the block, so that the lighter roles meet every scheduler
  std::uint32_t left_from_, right_from_;
  const char* high_;
  std::uint32_t claimed_ = 0;
};

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    fused_kernel(const __grid_constant__ FusedSide side, const __grid_constant__ FusedRule rule) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<FusedShared<Shape>*>(memory);
  // Words beyond the factors are never copied, and not all parts of a product are written: zero.
  auto* words = reinterpret_cast<std::uint32_t*>(memory);
  for (unsigned i = threadIdx.x; i < sizeof(shared) / 4; i += blockDim.x) words[i] = 0;
  __syncthreads();
  FusedRow<Shape>(side, rule, shared).run();
#else
  __trap();
#endif
}

}  // namespace mf::als
