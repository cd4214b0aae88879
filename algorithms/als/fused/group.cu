// als_fused's kernel for 193 to 256 factors on sm_90a:
//   (sum theta_v theta_v^T + lambda n_u I) x_u = sum r_uv theta_v
//
// A thread block of two warpgroups has a multiprocessor. Tiles of 64 gathered rows lie in shared
// memory as panels of 64 factors, in the layout that the warpgroup's products read (wgmma.cuh), so
// that no operand passes through registers; tiles of one row and the next are one stream, gathered
// two tiles ahead. A is formed in block rows of 64, from column 0 to the block on the diagonal: 640
// columns, 320 a warpgroup (group.hpp). While these products run, each warp adds b of 32 factors by
// products of its own. For CG each warp makes fp16 of its two block rows of 16 and gets the part
// right of the diagonal from the warps that hold it, transposed, through shared memory: a product
// with A then needs no sums over warps.
//
// A row of n ratings, f factors padded to 256: read 8 n bytes of ratings, 2 f n of gathered rows,
// 4 f of x; written 6 f. FLOPs as done: 2 * 64 * 640 n, of which n (f (f + 1)) are needed.
#include "algorithms/als/fused/group.hpp"
#include "algorithms/als/fused/group_layout.hpp"

#include "algorithms/als/fused/cg.cuh"
#include "algorithms/als/fused/ptx.cuh"
#include "algorithms/als/fused/store_row.cuh"
#include "algorithms/als/fused/turns.cuh"
#include "algorithms/als/fused/wgmma.cuh"
#include "algorithms/als/row_reg.hpp"
#include "algorithms/core/cuda/launch.hpp"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define MF_GROUP_PRODUCTS 1
#else
#define MF_GROUP_PRODUCTS 0
#endif

namespace mf::als {
namespace {

constexpr int kFactors = kGroupTiles * kFusedTile;  // padded
constexpr int kWarps = kGroupThreads / 32;
constexpr int kStages = 4;  // tiles: multiplied, the same a tile late, and two on their way
constexpr int kAhead = 4;   // tiles whose ratings are: this one, the next two, and one on its way
constexpr int kTasks = 8;   // this turn's, four that follow, and one that slower warps still read
constexpr int kPanel = kDepth * 128;  // bytes: 64 factors of a tile
constexpr int kTileBytes = 4 * kPanel;
constexpr int kSent = 96;  // blocks of 16 x 16 that one warp has and another wants, transposed

// CG uses the vectors of the other kernels.
using Shape = FusedShape<kGroupTiles, false, false>;
using Vector = FusedVector<Shape>;
using Fragment = std::uint32_t[4];
constexpr int kPlane = Shape::kPlane;

struct GroupShared {
  alignas(1024) unsigned char tiles[kStages][kTileBytes];
  alignas(16) std::uint32_t sent[kSent][128];
  alignas(16) FusedEntry entries[kAhead][kDepth];
  alignas(16) std::uint32_t ratings[kStages][kDepth];  // of a tile, as two fp16 words
  alignas(16) FusedTask tasks[kTasks];
  alignas(16) float b_parts[kFactors];
  alignas(16) float b[kFactors];
  alignas(16) std::uint32_t p[kWarps][2 * kPlane];
  alignas(16) float y[2][kFactors];
  alignas(16) float x[kFactors];
  float largest[kWarps];
  bool last;  // of a split row, this block came last
};

// A thread's share of A in warpgroup Role.
template <int Role>
struct GroupSums {
  static constexpr int kUpper = group_upper_sums(Role);
  static constexpr int kLower = kGroupSums - kUpper;
  float upper[kUpper];
  float lower[kLower];
};

#if MF_GROUP_PRODUCTS
template <int Role>
class GroupRow {
 public:
  __device__ GroupRow(const FusedSide& side, const FusedRule& rule, GroupShared& shared)
      : side_(side),
        rule_(rule),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x % 32)),
        warp_(static_cast<int>(threadIdx.x / 32)),
        high_(reinterpret_cast<const char*>(side.from.high) + lane_ * 16) {}

  __device__ __forceinline__ void run() {
    if (static_cast<std::int64_t>(blockIdx.x) >= side_.n_tasks) return;
    begin();
    for (std::int32_t turn = 0; exists(turn); ++turn) {
      const FusedTask& task = shared_.tasks[turn % kTasks];
      GroupSums<Role> sums = {};
      form(turn, task.count, sums);
      const bool whole = task.parts == 1 && !side_.keep;
      const float b = sum_of_b();
      if (!whole && !merge(task, sums, b)) continue;
      if (whole) shared_.b[threadIdx.x] = b;
      share_largest(sums);
      sync();
      solve(task, sums);
    }
  }

 private:
  // The block's barrier. The warpgroups meet at instructions of their own: PTX promises that,
  // __syncthreads() does not. compute-sanitizer's synccheck takes it for divergence all the same.
  __device__ __forceinline__ static void sync() {
    asm volatile("barrier.sync.aligned 1, %0;" ::"n"(kGroupThreads) : "memory");
  }

  static constexpr int kUpperColumns = GroupSums<Role>::kUpper / 8;  // blocks of 16
  static constexpr int kLowerColumns = GroupSums<Role>::kLower / 8;

  // ---- the stream of tiles: tasks, then ratings, then the rows they name ----

  // A tile of the stream: its turn, its ratings, and the row's ratings from there on. In registers:
  // a read from shared memory for each tile would delay all that follow.
  struct Place {
    std::int32_t turn;
    std::int32_t left;
    const FusedEntry* entries;
    bool exists;
    bool fresh;  // of a turn whose task is still to be read: it may not be there yet
  };

  __device__ __forceinline__ bool exists(std::int32_t turn) const {
    return is_task(shared_.tasks[turn % kTasks]);
  }
  __device__ __forceinline__ bool open(Place& place) const {
    if (place.fresh) {
      const FusedTask& task = shared_.tasks[place.turn % kTasks];
      place = {place.turn, task.count, side_.entries + task.begin, task.row >= 0, false};
    }
    return place.exists;
  }
  __device__ __forceinline__ void advance(Place& place) const {
    place.left -= kDepth;
    place.entries += kDepth;
    if (place.left > 0) return;
    ++place.turn;
    place.fresh = true;
  }

  __device__ __forceinline__ void claim() { claim_task(side_, claimed_); }
  __device__ __forceinline__ void copy_task(std::int32_t turn, std::int64_t task) {
    fetch_task(side_, task, &shared_.tasks[turn % kTasks]);
  }

  // Warps 2 and 3 copy the ratings of the next tile. (The small work of a tile is spread, since a
  // barrier waits for the last warp.)
  __device__ __forceinline__ void copy_entries() {
    const int k = static_cast<int>(threadIdx.x) - kDepth;
    if (warp_ / 2 == 1 && open(entries_)) {
      if (k < entries_.left) {
        copy_8(shared_address(&shared_.entries[copied_ % kAhead][k]), entries_.entries + k);
      }
      advance(entries_);
    }
    ++copied_;
    commit_copies();
  }

  // Gathers the rows of the next tile: a warp has eight, a lane 16 bytes of each.
  __device__ __forceinline__ void gather() {
    if (open(rows_)) {
      gather_tile(gathered_ % kStages, shared_.entries[gathered_ % kAhead], rows_.left);
      advance(rows_);
    }
    ++gathered_;
    commit_copies();
  }
  __device__ __forceinline__ void gather_tile(int slot, const FusedEntry* entries, int left) {
    const int first = warp_ * 8;
    int others[8];
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
      const int4 two = *reinterpret_cast<const int4*>(entries + first + j);
      others[j] = two.x;
      others[j + 1] = two.z;
    }
    // The place of word lane % 8 of row `first`; word w of row k is exchanged with w ^ k % 8.
    const std::uint32_t to =
        shared_address(shared_.tiles[slot]) + lane_ / 8 * kPanel + first * 128 + lane_ % 8 * 16;
    if (lane_ * 8 < rule_.factors) {
      left >= kDepth ? copy_rows(to, others) : copy_last_rows(to, others, left - first);
    }
    const int k = static_cast<int>(threadIdx.x) - 2 * kDepth;  // warps 4 and 5
    if (warp_ / 2 == 2) shared_.ratings[slot][k] = k < left ? entries[k].rating : 0U;
  }
  __device__ __forceinline__ void copy_rows(std::uint32_t to, const int (&others)[8]) const {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      copy_16((to ^ j * 16) + j * 128, row_address<kFactors * 2>(high_, others[j]));
    }
  }
  // Rows past the last, up to a whole step of 16, are zero.
  __device__ __forceinline__ void copy_last_rows(std::uint32_t to, const int (&others)[8],
                                                 int left) const {
    const int end = left + ((warp_ * 8 + left) % 16 == 0 ? 0 : 16 - (warp_ * 8 + left) % 16);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const std::uint32_t at = (to ^ j * 16) + j * 128;
      copy_16_if(j < left, at, row_address<kFactors * 2>(high_, others[j]));
      if (j >= left && j < end) zero_16(at);
    }
  }
  __device__ __forceinline__ static void zero_16(std::uint32_t at) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(0) : "memory");
  }
  __device__ __forceinline__ void begin() {
    for (int turn = 0; turn < 4; ++turn) {
      copy_task(turn, blockIdx.x + std::int64_t{turn} * gridDim.x);
    }
    claim();
    wait_copies();
    sync();
    entries_ = rows_ = {0, 0, nullptr, false, true};
    copy_entries();
    copy_entries();
    wait_copies();
    sync();
    gather();
    copy_entries();
    gather();
  }

  // ---- a row ----

  __device__ __forceinline__ void form(std::int32_t turn, int count, GroupSums<Role>& sums) {
#pragma unroll
    for (int i = 0; i < 8; ++i) b_[i / 4][i % 4] = 0;
    int left = count;
    do {
      wait_copies_but_one();  // this tile's rows and the ratings of the one after the next
      show_to_products();
      sync();
      const int slot = static_cast<int>(now_ % kStages);
      multiply_tile(slot, min(left, kDepth), sums);
      if (left == count) copy_ahead(turn);
      copy_entries();
      gather();
      add_b(slot, min(left, kDepth));
      wait_group_products_but_one();  // the tile before is free
      ++now_;
      left -= kDepth;
    } while (left > 0);
    wait_group_products();
    keep_after_products(sums.lower);
    keep_after_products(sums.upper);
  }

  // Fetches the data of the next turns on the way.
  __device__ __forceinline__ void copy_ahead(std::int32_t turn) {
    copy_task(turn + 4, std::int64_t{claimed_} + 4 * std::int64_t{gridDim.x});
    claim();
    const float* row =
        side_.rows + std::int64_t{shared_.tasks[turn % kTasks].row} * side_.rows_stride;
    const int i = 4 * (static_cast<int>(threadIdx.x) - 192);  // warps 6 and 7
    if (i >= 0 && i < side_.rows_stride) copy_16(shared_address(shared_.x + i), row + i);
  }

  // Queues them.
  __device__ __forceinline__ void multiply_tile(int slot, int count, GroupSums<Role>& sums) {
    const std::uint32_t tile = shared_address(shared_.tiles[slot]);
    std::uint64_t upper = operand_at(tile + group_upper(Role) * kPanel, kPanel);
    std::uint64_t lower = operand_at(tile + group_lower(Role) * kPanel, kPanel);
    std::uint64_t columns = operand_at(tile, kPanel);
    begin_group_products();
#pragma unroll 1
    for (int step = 0; step < count; step += 16) {
      group_multiply_add(sums.lower, lower, columns);
      group_multiply_add(sums.upper, upper, columns);
      upper += 2 * 1024 / 16;
      lower += 2 * 1024 / 16;
      columns += 2 * 1024 / 16;
    }
    commit_group_products();
  }

  // b of the warp's 32 factors by the warp's products, while the group's run: the ratings' two
  // words are columns 0 and 1 of the right operand.
  __device__ __forceinline__ void add_b(int slot, int count) {
    const int row = lane_ % 8 + lane_ / 16 * 8;
    const std::uint32_t from = shared_address(shared_.tiles[slot]) + warp_ / 2 * kPanel + row * 128;
    const unsigned word = warp_ % 2 * 4 + lane_ / 8 % 2;
    const int g = lane_ / 4;
    const unsigned choice = g == 0 ? 0x5410U : 0x7632U;
    const std::uint32_t* ratings = shared_.ratings[slot] + lane_ % 4 * 2;
#pragma unroll
    for (int step = 0; step < kDepth; step += 16) {
      if (step >= count) continue;
      std::uint32_t r[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const uint2 pair = *reinterpret_cast<const uint2*>(ratings + step + half * 8);
        r[half] = g < 2 ? __byte_perm(pair.x, pair.y, choice) : 0U;
      }
#pragma unroll
      for (int block = 0; block < 2; ++block) {
        Fragment theta;
        load_transposed(theta, from + step * 128 + ((word + 2 * block) ^ lane_ % 8) * 16);
        multiply_add(b_[block], theta, r[0], r[1]);
      }
    }
  }

  // This thread's element of b; all warps have done with the row's tiles.
  __device__ __forceinline__ float sum_of_b() {
    if (lane_ % 4 == 0) {
      float* to = shared_.b_parts + warp_ * 32 + lane_ / 4;
#pragma unroll
      for (int block = 0; block < 2; ++block) {
        to[16 * block] = b_[block][0] + b_[block][1];
        to[16 * block + 8] = b_[block][2] + b_[block][3];
      }
    }
    wait_copies_but_one();  // x is there
    sync();
    return shared_.b_parts[threadIdx.x];
  }

  // ---- rows that several thread blocks share ----

  template <class Body>
  __device__ __forceinline__ static void for_each_sum(GroupSums<Role>& sums, Body&& body) {
#pragma unroll
    for (int i = 0; i < GroupSums<Role>::kUpper; ++i) body(sums.upper[i], i * kGroupThreads);
#pragma unroll
    for (int i = 0; i < GroupSums<Role>::kLower; ++i) {
      body(sums.lower[i], (GroupSums<Role>::kUpper + i) * kGroupThreads);
    }
  }

  // True for the block that came last: it then has the sums of all parts, added in their order.
  __device__ __forceinline__ bool merge(const FusedTask& task, GroupSums<Role>& sums, float b) {
    float* const first =
        side_.scratch + std::int64_t{task.first_slot} * kGroupSlotFloats + threadIdx.x;
    float* const mine = first + std::int64_t{task.part} * kGroupSlotFloats;
    for_each_sum(sums, [&](float& value, int at) { __stcg(mine + at, value); });
    __stcg(mine + group_b_at(0), b);
    if (side_.keep) return false;
    __threadfence();
    sync();
    if (threadIdx.x == 0) {
      const std::uint32_t before = atomicAdd(side_.arrived + task.first_slot, 1U);
      shared_.last = before + 1 == static_cast<std::uint32_t>(task.parts);
      if (shared_.last) side_.arrived[task.first_slot] = 0;
      __threadfence();
    }
    sync();
    if (!shared_.last) return false;
    for_each_sum(sums, [&](float& value, int) { value = 0; });
    b = 0;
    for (int part = 0; part < task.parts; ++part) {
      const float* from = first + std::int64_t{part} * kGroupSlotFloats;
      for_each_sum(sums, [&](float& value, int at) { value += __ldcg(from + at); });
      b += __ldcg(from + group_b_at(0));
    }
    shared_.b[threadIdx.x] = b;
    return true;
  }

  // ---- the solver ----

  // Block rows of 16 that a warp has.
  __device__ __forceinline__ int upper_row() const { return 4 * group_upper(Role) + warp_ % 4; }
  __device__ __forceinline__ int lower_row() const { return 4 * group_lower(Role) + warp_ % 4; }

  // The largest element of A is on the diagonal, in the last four blocks of a block row.
  __device__ __forceinline__ void share_largest(const GroupSums<Role>& sums) {
    float largest = 0;
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      largest = fmaxf(largest, sums.upper[GroupSums<Role>::kUpper - 32 + i]);
      largest = fmaxf(largest, sums.lower[GroupSums<Role>::kLower - 32 + i]);
    }
    const unsigned bits = warp_largest(__float_as_uint(largest));
    if (lane_ == 0) shared_.largest[warp_] = __uint_as_float(bits);
  }

  // The place of block (row, column), column in a later 64 than row, until the row's warp takes it.
  __device__ __forceinline__ uint4* sent_at(int row, int column) {
    const int block = row / 4;
    const int first = block == 0 ? 0 : block == 1 ? 48 : 80;
    const int at = first + row % 4 * (12 - 4 * block) + column - 4 * block - 4;
    return reinterpret_cast<uint4*>(shared_.sent[at]) + lane_;
  }

  // Blocks [0, Columns) of a block row in fp16; those left of its diagonal 64 x 64 are sent.
  template <int Columns, int N>
  __device__ __forceinline__ void narrow_row(const float (&sums)[N], float down, int row,
                                             Fragment (&a)[kGroupTiles]) {
    static_assert(Columns * 8 == N);
#pragma unroll
    for (int column = 0; column < Columns; ++column) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* two = sums + column * 8 + 2 * i;
        const __half2 pair = __floats2half2_rn(two[0] * down, two[1] * down);
        a[column][i] = *reinterpret_cast<const std::uint32_t*>(&pair);
      }
      if (column < Columns - 4) {
        *sent_at(column, row) = {transposed(a[column][0]), transposed(a[column][2]),
                                 transposed(a[column][1]), transposed(a[column][3])};
      }
    }
  }
  template <int Columns>
  __device__ __forceinline__ void fetch_row(int row, Fragment (&a)[kGroupTiles]) {
#pragma unroll
    for (int column = Columns; column < kGroupTiles; ++column) {
      const uint4 words = *sent_at(row, column);
      a[column][0] = words.x;
      a[column][1] = words.y;
      a[column][2] = words.z;
      a[column][3] = words.w;
    }
  }

  __device__ __forceinline__ void solve(const FusedTask& task, const GroupSums<Role>& sums) {
    float largest = shared_.largest[0];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) largest = fmaxf(largest, shared_.largest[w]);
    const int exponent = max(exponent_of(largest), -46) - 14;  // the largest then is below 2^15
    Fragment upper[kGroupTiles];
    Fragment lower[kGroupTiles];
    narrow_row<kUpperColumns>(sums.upper, power_of_two(-exponent), upper_row(), upper);
    narrow_row<kLowerColumns>(sums.lower, power_of_two(-exponent), lower_row(), lower);
    sync();
    fetch_row<kUpperColumns>(upper_row(), upper);
    fetch_row<kLowerColumns>(lower_row(), lower);
    const float unit = power_of_two(exponent);
    const float shrink = row_reg(rule_.reg, rule_.reg_power, task.row_count);
    Vector x = load(shared_.x);
    scale(x, rule_.down);
    descend(load(shared_.b), x, rule_.steps, rule_.tolerance, lane_,
            [&](const Vector& p, float pp) { return product(upper, lower, unit, shrink, p, pp); });
    if (threadIdx.x < 32) store_row(side_, rule_, task, lane_, x);
  }

  __device__ __forceinline__ Vector load(const float* from) const {
    Vector v;
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) {
      v.v[k] = *reinterpret_cast<const float4*>(from + 4 * (lane_ + 32 * k));
    }
    return v;
  }
  // (A + shrink I) p. `pp` is about the square of the norm of p, or 1. One barrier: the buffers of
  // y alternate.
  __device__ __forceinline__ Vector product(const Fragment (&upper)[kGroupTiles],
                                            const Fragment (&lower)[kGroupTiles], float unit,
                                            float shrink, const Vector& p, float pp) {
    const float down = inverse_root(pp);
    std::uint32_t* words = shared_.p[warp_];
    __syncwarp();  // the warp has read its p of the last product
    store_halves<kPlane>(words, lane_, p, down);
    __syncwarp();
    const int g = lane_ / 4;
    const int t = lane_ % 4;
    const std::uint32_t* from = words + g % 2 * kPlane + 2 * t;
    float sums[4][4] = {};
#pragma unroll
    for (int j = 0; j < kGroupTiles; ++j) {
      const uint2 word = *reinterpret_cast<const uint2*>(from + 8 * j);
      multiply_add(sums[j % 2], upper[j], word.x, word.y);
      multiply_add(sums[2 + j % 2], lower[j], word.x, word.y);
    }
    float* y = shared_.y[buffer_];
    // All four lanes of a row have its sums: each writes one of four.
    const float y_upper[2] = {(sums[0][0] + sums[0][1]) + (sums[1][0] + sums[1][1]),
                              (sums[0][2] + sums[0][3]) + (sums[1][2] + sums[1][3])};
    const float y_lower[2] = {(sums[2][0] + sums[2][1]) + (sums[3][0] + sums[3][1]),
                              (sums[2][2] + sums[2][3]) + (sums[3][2] + sums[3][3])};
    const float of_upper = t % 2 == 0 ? y_upper[0] : y_upper[1];
    const float of_lower = t % 2 == 0 ? y_lower[0] : y_lower[1];
    y[(t < 2 ? upper_row() : lower_row()) * kFusedTile + t % 2 * 8 + g] =
        t < 2 ? of_upper : of_lower;
    buffer_ = 1 - buffer_;
    sync();
    const float up = unit * inverse_power(down);
    Vector ap = load(y);
#pragma unroll
    for (int k = 0; k < Shape::kQuads; ++k) ap.v[k] = up * ap.v[k] + shrink * p.v[k];
    return ap;
  }

  const FusedSide& side_;
  const FusedRule& rule_;
  GroupShared& shared_;
  int lane_, warp_;
  const char* high_;
  std::uint32_t claimed_ = 0;
  Place entries_, rows_;                          // of the next tile to be copied, gathered
  unsigned copied_ = 0, gathered_ = 0, now_ = 0;  // tiles
  int buffer_ = 0;
  float b_[2][4];  // of blocks 2 warp_ and 2 warp_ + 1, as products leave it
};
#endif

__global__ void __launch_bounds__(kGroupThreads, 1)
    group_kernel(const __grid_constant__ FusedSide side, const __grid_constant__ FusedRule rule) {
#if MF_GROUP_PRODUCTS
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<GroupShared*>(memory);
  // Words beyond the factors are never copied: zero.
  auto* words = reinterpret_cast<std::uint32_t*>(memory);
  for (unsigned i = threadIdx.x; i < sizeof(shared) / 4; i += blockDim.x) words[i] = 0;
  __syncthreads();
  // One number a warp, which the compiler can see.
  if (__shfl_sync(0xffffffffU, threadIdx.x / 128, 0) == 0) {
    GroupRow<0>(side, rule, shared).run();
  } else {
    GroupRow<1>(side, rule, shared).run();
  }
#else
  __trap();
#endif
}

}  // namespace

bool has_group_kernel() {
#ifdef MF_HAS_SM90A
  int device = 0;
  int major = 0;
  int minor = 0;
  MF_CUDA(cudaGetDevice(&device));
  MF_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  MF_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return major == 9 && minor == 0;
#else
  return false;
#endif
}

void launch_group(const FusedRule& rule, const FusedSide& side, cudaStream_t stream) {
  constexpr int kBytes = static_cast<int>(sizeof(GroupShared));
  static_assert(kBytes <= 227 * 1024);
  MF_CUDA(cudaFuncSetAttribute(group_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  if (side.n_tasks == 0) return;
  const unsigned grid =
      cuda::blocks_for(side.n_tasks, 1, cuda::resident_blocks(group_kernel, kGroupThreads, kBytes));
  MF_CUDA(cudaMemsetAsync(side.next, 0, sizeof(*side.next), stream));
  group_kernel<<<grid, kGroupThreads, kBytes, stream>>>(side, rule);
  MF_CUDA_LAUNCHED("group_kernel");
}

}  // namespace mf::als
