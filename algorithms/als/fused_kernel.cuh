// als_fused's kernel; README.md explains its layout.
#pragma once

#include "algorithms/als/fused_cg.cuh"
#include "algorithms/als/fused_ptx.cuh"
#include "algorithms/als/fused_shape.cuh"

namespace mf::als {

// Dump: writes A and b to memory instead of solving, for tests.
template <class Shape, bool Dump>
class FusedRow {
 public:
  __device__ FusedRow(const FusedSide& side, const FusedRule& rule, FusedShared<Shape>& shared)
      : side_(side),
        rule_(rule),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x) % 32),
        role_((static_cast<int>(threadIdx.x) / 32 + static_cast<int>(blockIdx.x)) % Shape::kWarps),
        fetches_(role_ == Shape::kWarps - 1) {}

  __device__ void run() {
    if (!exists(0)) return;
    copy_task(0);
    copy_task(1);
    wait_copies<0>();
    __syncthreads();
    load_first(0);
    __syncthreads();
    start(0);
    for (std::int32_t turn = 0; exists(turn); ++turn) {
      const FusedTask& task = shared_.tasks[turn % kTasks];
      FusedVector<Shape> x;
      if (!Dump) load_start(task, x);
      Accumulators<Shape> sums = {};
      form(turn, sums);
      wait_copies<0>();
      if (task.parts == 1) share(sums);
      __syncthreads();  // all warps have done with the tiles
      if (exists(turn + 1)) start(turn + 1);
      if (task.parts > 1 && !merge(task, sums)) continue;
      if constexpr (Dump) {
        dump(task, sums);
      } else {
        solve(task, sums, x);
      }
    }
  }

 private:
  static constexpr int kTiles = Shape::kTiles;
  static constexpr int kTasks = FusedShared<Shape>::kTasks;
  static constexpr int kStages = Shape::kStages;

  __device__ std::int64_t task_of(std::int32_t turn) const {
    return snake(turn, blockIdx.x, gridDim.x);
  }
  __device__ bool exists(std::int32_t turn) const { return task_of(turn) < side_.n_tasks; }

  // ---- the pipeline: tasks, then ratings, then the rows they name, then the sums ----

  __device__ void copy_task(std::int32_t turn) {
    if (threadIdx.x >= 2 || !exists(turn)) return;
    const auto* from = reinterpret_cast<const int4*>(side_.tasks + task_of(turn)) + threadIdx.x;
    copy_16(shared_address(reinterpret_cast<int4*>(&shared_.tasks[turn % kTasks]) + threadIdx.x),
            from);
  }

  // The ratings of a task.
  struct Run {
    const FusedEntry* entries;
    std::int32_t count;
  };
  __device__ Run run_of(std::int32_t turn) const {
    const FusedTask& task = shared_.tasks[turn % kTasks];
    return {side_.entries + task.begin, task.count};
  }

  // Rating k of a tile; past the end the index is -1.
  __device__ FusedEntry load_entry(const Run& run, int tile, int k) const {
    const int at = tile * kDepth + k;
    if (at >= run.count) return {-1, 0};
    const uint2 words = __ldg(reinterpret_cast<const uint2*>(run.entries + at));
    return {static_cast<std::int32_t>(words.x), words.y};
  }
  static constexpr int kPerLane = kDepth / 32;
  __device__ void load_entries(const Run& run, int tile, FusedEntry (&to)[kPerLane]) const {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) to[i] = load_entry(run, tile, i * 32 + lane_);
  }
  // The warp that fetches keeps the ratings: it also writes them beside the rows.
  __device__ void put_entries(FusedEntry* to, const FusedEntry (&from)[kPerLane],
                              std::uint32_t (&ratings)[kPerLane]) const {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      ratings[i] = from[i].rating;
      *reinterpret_cast<uint2*>(to + i * 32 + lane_) = {static_cast<std::uint32_t>(from[i].other),
                                                        from[i].rating};
    }
  }

  // What start(turn) needs, by one warp.
  __device__ void load_first(std::int32_t turn) {
    if (!fetches_) return;
    const Run run = run_of(turn);
    FusedEntry entries[kStages - 1][kPerLane];
#pragma unroll
    for (int tile = 0; tile < kStages - 1; ++tile) load_entries(run, tile, entries[tile]);
#pragma unroll
    for (int tile = 0; tile < kStages - 1; ++tile) {
      put_entries(shared_.first[tile], entries[tile], first_ratings_[tile]);
    }
  }

  __device__ void start(std::int32_t turn) {
    const Run run = run_of(turn);
#pragma unroll
    for (int tile = 0; tile < kStages - 1; ++tile) {
      if (tile * kDepth < run.count)
        copy_tile(run, tile, shared_.first[tile], first_ratings_[tile]);
      commit_copies();
    }
    if (!fetches_) return;
    FusedEntry entries[kPerLane];
    load_entries(run, kStages - 1, entries);
    load_entries(run, kStages, ahead_);
    put_entries(shared_.entries[(kStages - 1) % 2], entries, ratings_);
  }

  // After the barrier in front of `tile`: starts the one kStages - 1 later, whose entries were put
  // there before the barrier, and puts those of the next one.
  __device__ void copy_next(const Run& run, int tile) {
    const int next = tile + kStages - 1;
    if (next * kDepth < run.count) copy_tile(run, next, shared_.entries[next % 2], ratings_);
    commit_copies();
    if (!fetches_ || (next + 1) * kDepth >= run.count) return;
    put_entries(shared_.entries[(next + 1) % 2], ahead_, ratings_);
    load_entries(run, next + 2, ahead_);
  }

  // kLanes lanes have a row of the tile, 16 bytes each. Rows past the end are zero. Indices first,
  // then the copies: between them, ptxas adds a dummy load for sm_90 to each access to shared
  // memory.
  __device__ void copy_tile(const Run& run, int tile, const FusedEntry* entries,
                            const std::uint32_t (&ratings)[kPerLane]) {
    constexpr int kRowsAtOnce = Shape::kThreads / Shape::kLanes;
    constexpr int kTimes = (kDepth + kRowsAtOnce - 1) / kRowsAtOnce;
    const int slot = tile % kStages;
    const int word = static_cast<int>(threadIdx.x) % Shape::kLanes;
    const int first = static_cast<int>(threadIdx.x) / Shape::kLanes;
    if (word * 8 < rule_.factors) {
      std::int32_t others[kTimes];
#pragma unroll
      for (int j = 0; j < kTimes; ++j) {
        const int k = first + j * kRowsAtOnce;
        others[j] = kDepth % kRowsAtOnce == 0 || k < kDepth ? entries[k].other : -1;
      }
      unsigned char* to = shared_.tiles[slot][0] + first * Shape::kPitch + word * 16;
      copy_words(to, side_.from.high + word * 8, others, (tile + 1) * kDepth <= run.count);
      if constexpr (Shape::kWords == 2) {
        copy_words(to + Shape::kTileBytes, side_.from.low + word * 8, others,
                   (tile + 1) * kDepth <= run.count);
      }
    }
    if (!fetches_) return;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const int k = i * 32 + lane_;
      void* to = Shape::kFree ? static_cast<void*>(shared_.tiles[slot][0] + k * Shape::kPitch +
                                                   Shape::kRatingAt * 2)
                              : &shared_.ratings[slot][k];
      *static_cast<std::uint32_t*>(to) = ratings[i];
    }
  }

  template <int Times>
  __device__ static void copy_words(unsigned char* to, const __half* from,
                                    const std::int32_t (&others)[Times], bool all) {
    constexpr int kRowsAtOnce = Shape::kThreads / Shape::kLanes;
    constexpr bool kEven = kDepth % kRowsAtOnce == 0;
    const int first = static_cast<int>(threadIdx.x) / Shape::kLanes;
    const auto row = [&](int j) { return to + j * kRowsAtOnce * Shape::kPitch; };
    const auto copy = [&](int j) {
      const auto at = std::uint64_t{static_cast<std::uint32_t>(others[j])} * (Shape::kStride * 2);
      copy_16(shared_address(row(j)), reinterpret_cast<const char*>(from) + at);
    };
    if (kEven && all) {
#pragma unroll
      for (int j = 0; j < Times; ++j) copy(j);
      return;
    }
#pragma unroll
    for (int j = 0; j < Times; ++j) {
      if (!kEven && first + j * kRowsAtOnce >= kDepth) break;
      if (others[j] >= 0) {
        copy(j);
      } else {
        *reinterpret_cast<uint4*>(row(j)) = {0, 0, 0, 0};
      }
    }
  }

  __device__ void form(std::int32_t turn, Accumulators<Shape>& sums) {
    const Run run = run_of(turn);
    if (run.count == 0) copy_ahead(turn);
    for (int tile = 0; tile * kDepth < run.count; ++tile) {
      wait_copies<kStages - 2>();
      __syncthreads();  // all threads' copies; and the tile before is free
      if (tile == 0) copy_ahead(turn);
      copy_next(run, tile);
      add_tile(tile % kStages, run.count - tile * kDepth, sums);
    }
  }

  // What the next turns need is fetched on the way.
  __device__ void copy_ahead(std::int32_t turn) {
    copy_task(turn + 2);
    if (exists(turn + 1)) load_first(turn + 1);
  }

  __device__ void add_tile(int slot, int left, Accumulators<Shape>& sums) {
    // Lane l gives the address of row l % 8 of matrix l / 8: two side by side, then the two below
    // them. Transposed, these are the four of an operand, in its order.
    const int row = lane_ % 8 + (lane_ >= 16 ? 8 : 0);
    const int column = lane_ / 8 % 2 * 8;
    const std::uint32_t from =
        shared_address(shared_.tiles[slot][0]) + row * Shape::kPitch + column * 2;
    with_role<Shape::kWarps>(role_, [&](auto role) {
#pragma unroll
      for (int step = 0; step < kDepth; step += 16) {
        if (step < left) {
          this->template add_step<decltype(role)::value>(from + step * Shape::kPitch,
                                                         shared_.ratings[slot] + step, sums);
        }
      }
    });
  }

  // Sixteen ratings as a 16 x 8 operand: column 0 their first words, column 1 the second.
  __device__ void rating_words(const std::uint32_t* ratings, std::uint32_t (&r)[2]) const {
    const int g = lane_ / 4;
    const unsigned choice = g == 0 ? 0x5410U : 0x7632U;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint2 pair = *reinterpret_cast<const uint2*>(ratings + half * 8 + lane_ % 4 * 2);
      r[half] = g < 2 ? __byte_perm(pair.x, pair.y, choice) : 0U;
    }
  }

  using Fragment = std::uint32_t[4];

  // A fragment has 16 factors of 16 ratings. It is the left operand of the products of its block
  // row, and both right operands, 8 factors each, of those of its block column.
  __device__ static void add_block(float* a, const Fragment& row, const Fragment& column) {
    multiply_add(a, row, column[0], column[2]);
    multiply_add(a + 4, row, column[1], column[3]);
  }

  template <int Role>
  __device__ void add_step(std::uint32_t from, const std::uint32_t* ratings,
                           Accumulators<Shape>& sums) {
    using Rows = BlockRows<kTiles, Role>;
    constexpr int kWords = Shape::kWords;
    std::uint32_t r[2];
    if constexpr (!Shape::kFree) rating_words(ratings, r);
    // All fragments first: the products then need not wait for each load in turn.
    Fragment fragments[Rows::kLower + 1][kWords];
#pragma unroll
    for (int column = 0; column <= Rows::kLower; ++column) {
#pragma unroll
      for (int word = 0; word < kWords; ++word) {
        load_transposed(fragments[column][word], from + word * Shape::kTileBytes + column * 32);
      }
    }
    if constexpr (!Shape::kFree) {
#pragma unroll
      for (int word = 0; word < kWords; ++word) {
        if (Rows::kTwo) multiply_add(sums.b[0], fragments[Rows::kUpper][word], r[0], r[1]);
        multiply_add(sums.b[1], fragments[Rows::kLower][word], r[0], r[1]);
      }
    }
#pragma unroll
    for (int column = 0; column <= Rows::kLower; ++column) {
      if (Rows::kTwo && column <= Rows::kUpper) {
        add_products(sums.a[column], fragments[Rows::kUpper], fragments[column]);
      }
      add_products(sums.a[Rows::kLowerSlot + column], fragments[Rows::kLower], fragments[column]);
    }
  }

  // With two words: high high + high low + low high; low low is below fp32.
  __device__ static void add_products(float* a, const Fragment (&row)[Shape::kWords],
                                      const Fragment (&column)[Shape::kWords]) {
    add_block(a, row[0], column[0]);
    if constexpr (Shape::kWords == 2) {
      add_block(a, row[0], column[1]);
      add_block(a, row[1], column[0]);
    }
  }

  // ---- rows that several thread blocks share ----

  __device__ float* slot(const FusedTask& task, int part) const {
    constexpr std::int64_t kFloats = std::int64_t{Shape::kSlotFloats} * Shape::kThreads;
    return side_.scratch + (std::int64_t{task.first_slot} + part) * kFloats + role_ * 32 + lane_;
  }

  template <class Body>
  __device__ static void for_each_float(Accumulators<Shape>& sums, Body&& body) {
    int at = 0;
#pragma unroll
    for (int s = 0; s <= kTiles; ++s) {
#pragma unroll
      for (int i = 0; i < 8; ++i) body(sums.a[s][i], (at++) * Shape::kThreads);
    }
#pragma unroll
    for (int i = 0; i < (Shape::kFree ? 0 : 8); ++i) {
      body(sums.b[i / 4][i % 4], (at++) * Shape::kThreads);
    }
  }

  // True for the block that came last: it then has the sums of all parts, added in their order,
  // and has shared them.
  __device__ bool merge(const FusedTask& task, Accumulators<Shape>& sums) {
    float* mine = slot(task, task.part);
    for_each_float(sums, [&](float& value, int at) { __stcg(mine + at, value); });
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

  // What all warps need: b, and the largest element of A, which is on the diagonal. Where the
  // rating stands beside the factors, the sum of its squares is on the diagonal too.
  __device__ void share(const Accumulators<Shape>& sums) {
    if constexpr (Shape::kFree) {
      if (role_ == 0) share_rating_row(sums);
    } else {
      share_b(sums);
    }
    float largest = 0;
    with_role<Shape::kWarps>(role_, [&](auto role) {
      for_blocks<kTiles, decltype(role)::value>([&](int row, int column, int s) {
        if (row != column) return;
#pragma unroll
        for (int i = 0; i < 8; ++i) largest = fmaxf(largest, sums.a[s][i]);
      });
    });
    const unsigned bits = __reduce_max_sync(0xffffffffU, __float_as_uint(largest));
    if (lane_ == 0) shared_.largest[threadIdx.x / 32] = __uint_as_float(bits);
  }

  __device__ void share_b(const Accumulators<Shape>& sums) {
    if (lane_ % 4 != 0) return;  // these lanes have columns 0 and 1, the two words of the ratings
    const int g = lane_ / 4;
    const int upper = role_ * kFusedTile;
    const int lower = (kTiles - 1 - role_) * kFusedTile;
    if (upper != lower) {
      shared_.b[upper + g] = sums.b[0][0] + sums.b[0][1];
      shared_.b[upper + g + 8] = sums.b[0][2] + sums.b[0][3];
    }
    shared_.b[lower + g] = sums.b[1][0] + sums.b[1][1];
    shared_.b[lower + g + 8] = sums.b[1][2] + sums.b[1][3];
  }

  // Rows 8 and 9 of the last block row are the products with the two words of the ratings.
  __device__ void share_rating_row(const Accumulators<Shape>& sums) {
    using Rows = BlockRows<kTiles, 0>;
    const int t = lane_ % 4;
#pragma unroll
    for (int column = 0; column <= Rows::kLower; ++column) {
      const float* a = sums.a[Rows::kLowerSlot + column];
      float b[4] = {a[2], a[3], a[6], a[7]};
#pragma unroll
      for (float& x : b) x += __shfl_xor_sync(0xffffffffU, x, 4);
      if (lane_ >= 4) continue;
      const bool last = column == Rows::kLower;
      float2* to = reinterpret_cast<float2*>(shared_.b + column * kFusedTile + 2 * t);
      to[0] = {b[0], b[1]};
      to[4] = last ? float2{0, 0} : float2{b[2], b[3]};
    }
  }

  __device__ void load_start(const FusedTask& task, FusedVector<Shape>& x) const {
    const float* row = side_.rows + std::int64_t{task.row} * side_.rows_stride;
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) {
      const int i = 4 * (lane_ + 32 * k);
      x.v[k] = {0, 0, 0, 0};
      if (i < side_.rows_stride) x.v[k] = *reinterpret_cast<const float4*>(row + i);
    }
  }

  __device__ void solve(const FusedTask& task, const Accumulators<Shape>& sums,
                        FusedVector<Shape>& x) {
    float largest = shared_.largest[0];
#pragma unroll
    for (int w = 1; w < Shape::kWarps; ++w) largest = fmaxf(largest, shared_.largest[w]);
    FusedCg<Shape> cg(shared_, sums, largest, role_,
                      rule_.reg * static_cast<float>(task.row_count));
    cg.solve(x, rule_.steps, rule_.tolerance);
    if (threadIdx.x < 32) store_row(task, x);
  }

  __device__ void store_row(const FusedTask& task, FusedVector<Shape>& x) {
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) {
      const int i = 4 * (lane_ + 32 * k);
      if (i >= Shape::kStride) continue;
      const float4 v = task.row_count > 0 ? x.v[k] : float4{0, 0, 0, 0};
      if (i < side_.rows_stride) {
        *reinterpret_cast<float4*>(side_.rows + std::int64_t{task.row} * side_.rows_stride + i) = v;
      }
      const std::int64_t at = std::int64_t{task.row} * Shape::kStride + i;
      const __half2 high[2] = {__floats2half2_rn(v.x, v.y), __floats2half2_rn(v.z, v.w)};
      *reinterpret_cast<uint2*>(side_.to.high + at) = *reinterpret_cast<const uint2*>(high);
      if (!Shape::kTwoWords) continue;
      const float2 a = __half22float2(high[0]);
      const float2 b = __half22float2(high[1]);
      const __half2 low[2] = {__floats2half2_rn(v.x - a.x, v.y - a.y),
                              __floats2half2_rn(v.z - b.x, v.w - b.y)};
      *reinterpret_cast<uint2*>(side_.to.low + at) = *reinterpret_cast<const uint2*>(low);
    }
  }

  // ---- for tests ----

  __device__ void dump(const FusedTask& task, const Accumulators<Shape>& sums) {
    const std::int64_t f = rule_.factors;
    float* a = side_.a + std::int64_t{task.row} * f * f;
    const auto put = [&](int i, int j, float value) {
      if (i < f && j < f) a[i * f + j] = value;
    };
    with_role<Shape::kWarps>(role_, [&](auto role) {
      for_blocks<kTiles, decltype(role)::value>([&](int block_row, int block_column, int s) {
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          const int i = block_row * 16 + lane_ / 4 + (e / 2 % 2) * 8;
          const int j = block_column * 16 + lane_ % 4 * 2 + e % 2 + e / 4 * 8;
          put(i, j, sums.a[s][e]);
          if (block_row != block_column) put(j, i, sums.a[s][e]);
        }
      });
    });
    const int i = static_cast<int>(threadIdx.x);
    if (i < f) side_.b[std::int64_t{task.row} * f + i] = shared_.b[i];
    __syncthreads();  // a row without ratings comes to the next b without a barrier
  }

  const FusedSide& side_;
  const FusedRule& rule_;
  FusedShared<Shape>& shared_;
  int lane_;
  int role_;      // turned with the block, so that the lighter roles meet every scheduler
  bool fetches_;  // this warp brings the ratings of tiles to come
  FusedEntry ahead_[kPerLane] = {};                          // of the tile after the next
  std::uint32_t ratings_[kPerLane] = {};                     // of the tile that is copied next
  std::uint32_t first_ratings_[kStages - 1][kPerLane] = {};  // of the next task's first tiles
};

template <class Shape, bool Dump>
__global__ void __launch_bounds__(Shape::kThreads, Dump ? 1 : Shape::kBlocks)
    fused_kernel(const __grid_constant__ FusedSide side, const __grid_constant__ FusedRule rule) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& shared = *reinterpret_cast<FusedShared<Shape>*>(memory);
  // Words beyond the factors are never copied, and not all parts of a product are written: zero.
  auto* words = reinterpret_cast<std::uint32_t*>(memory);
  for (unsigned i = threadIdx.x; i < sizeof(shared) / 4; i += blockDim.x) words[i] = 0;
  __syncthreads();
  FusedRow<Shape, Dump>(side, rule, shared).run();
}

}  // namespace mf::als
