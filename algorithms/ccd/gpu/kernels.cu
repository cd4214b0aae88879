// The passes of ccd++. A block of threads does the pieces of its share. If tiles are narrow, it
// first copies the tile's part of the vectors that it gathers from into shared memory: v', v and,
// if it differs, the sums' v. A warp walks through its range of the piece:
//
//   r += u v_j - u' v'_j;  numerator += r w_j;  denominator += w_j^2
//
// In a turn it takes a word of 32 quads, a quad a lane, 8 or 16 bytes of indices and 16 of R, while
// the next turn's are on their way. A rating of a pass costs 6 bytes read from device memory (8
// with wide indices) and 4 written if R changes, 2 or 3 gathered words, and 8 FLOPs. While no task
// begins, each lane keeps its own sum; when one does, the lanes are added, in a fixed order, as are
// the tasks of a row (finish_kernel): nothing depends on which warp is first.
#include "algorithms/ccd/gpu/kernels.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::ccd {
namespace {

constexpr int kSharedThreads = 1024;  // one block a multiprocessor: its tables fill shared memory
constexpr int kGlobalThreads = 256;
constexpr int kGlobalBlocks = 4;  // of a multiprocessor, whose registers it must hold
constexpr int kFinishThreads = 256;
constexpr int kTile = 32;  // of a transpose
constexpr unsigned kAll = 0xFFFFFFFFU;

// exchange_two: `old` is `now`.
enum class Kind { exchange_two, exchange_three, sums, change };

constexpr int tables_of(Kind kind) {
  return kind == Kind::exchange_three ? 3 : kind == Kind::exchange_two ? 2 : 1;
}

struct Indices {
  std::int32_t at[kQuad];
};

// A quad as loaded.
template <class Index>
struct Packed;

template <>
struct Packed<std::uint16_t> {
  uint2 x;
  __device__ static Packed all(std::int64_t index) {
    const std::uint32_t two = static_cast<std::uint32_t>(index) * 0x10001U;
    return {{two, two}};
  }
  __device__ static Packed load(const void* from, std::int64_t quad) {
    return {__ldcs(static_cast<const uint2*>(from) + quad)};
  }
  __device__ Indices indices() const {
    return {{static_cast<std::int32_t>(x.x & 0xFFFFU), static_cast<std::int32_t>(x.x >> 16),
             static_cast<std::int32_t>(x.y & 0xFFFFU), static_cast<std::int32_t>(x.y >> 16)}};
  }
};

template <>
struct Packed<std::int32_t> {
  int4 x;
  __device__ static Packed all(std::int64_t index) {
    const auto one = static_cast<std::int32_t>(index);
    return {{one, one, one, one}};
  }
  __device__ static Packed load(const void* from, std::int64_t quad) {
    return {__ldcs(static_cast<const int4*>(from) + quad)};
  }
  __device__ Indices indices() const { return {{x.x, x.y, x.z, x.w}}; }
};

template <int kLanes>
__device__ __forceinline__ float add_lanes(float x) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) x += __shfl_xor_sync(kAll, x, step);
  return x;
}

template <int kLanes>
__device__ __forceinline__ double add_lanes(double x) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) x += __shfl_xor_sync(kAll, x, step);
  return x;
}

// The gathered vectors.
struct Tables {
  const float* held;
  const float* old;
  const float* now;
};

struct Sums {
  float numerator, denominator;

  __device__ Sums where(bool kept) const { return kept ? *this : Sums{0.0F, 0.0F}; }
  __device__ Sums operator+(const Sums& other) const {
    return {numerator + other.numerator, denominator + other.denominator};
  }
  __device__ Sums of_warp() const { return {add_lanes<32>(numerator), add_lanes<32>(denominator)}; }
  __device__ Sums of_lane_below(int step) const {
    return {__shfl_up_sync(kAll, numerator, step), __shfl_up_sync(kAll, denominator, step)};
  }
};

// The numbers of a row that its ratings are changed by.
struct Own {
  float now, held;
};

template <Kind kKind>
__device__ __forceinline__ void rating(float& r, std::int32_t other, const Tables& tables,
                                       const Own& own, Sums& sums) {
  if constexpr (kKind == Kind::change) {
    r = fmaf(own.now, tables.old[other], r);
  } else {
    const float now = tables.now[other];
    if constexpr (kKind != Kind::sums) {
      const float old = kKind == Kind::exchange_two ? now : tables.old[other];
      r = fmaf(own.now, old, fmaf(-own.held, tables.held[other], r));
    }
    sums.numerator = fmaf(r, now, sums.numerator);
    sums.denominator = fmaf(now, now, sums.denominator);
  }
}

// The lanes' view of a turn's tasks.
struct Turn {
  std::uint32_t heads;  // a bit for each lane whose quad begins a task
  StreamTask task;      // the lane's task
  Own own;              // of its row
};

// A warp's walk through a range: a word a turn, of which a lane has one quad. The first and the
// last word may belong to others in part; lanes without their quad take padding. Loads start ahead
// of their use: the bits of heads are loaded three turns before they are used, the tasks that they
// lead to two, the numbers of their rows and the ratings one.
template <Kind kKind, class Index>
class Walk {
 public:
  __device__ Walk(const DeviceSideView& side, const PassVectors& v, const Tables& tables,
                  const Range& range)
      : side_(side), v_(v), tables_(tables), lane_(static_cast<int>(threadIdx.x) % 32) {
    const std::int64_t word = range.begin / kWordQuads;
    heads_ = side.heads + word;
    quad_ = word * kWordQuads + lane_;
    begin_ = static_cast<int>(range.begin % kWordQuads);
    end_ = static_cast<int>(range.end - word * kWordQuads);
    start_tasks(side.before[word]);
    load(0);
  }

  __device__ void run() {
#pragma unroll 1
    for (int turn = 0; turn * 32 < end_; ++turn) take(turn);
    if constexpr (kKind != Kind::change) end_task(sums_);
  }

 private:
  __device__ bool has(int turn) const {
    return turn * 32 + lane_ >= begin_ && turn * 32 + lane_ < end_;
  }
  // The same of all lanes.
  __device__ std::uint32_t having(int turn) const {
    const int rest = end_ - turn * 32;
    const std::uint32_t below = rest >= 32 ? kAll : rest > 0 ? (1U << rest) - 1 : 0U;
    return turn == 0 ? below & kAll << begin_ : below;
  }

  __device__ void load(int turn) {
    r_ = {};
    others_ = Packed<Index>::all(side_.tile_width);
    if (!has(turn)) return;
    r_ = __ldcs(reinterpret_cast<const float4*>(side_.residual) + quad_ + turn * 32);
    others_ = Packed<Index>::load(side_.indices, quad_ + turn * 32);
  }
  __device__ std::uint32_t load_heads(int turn) const {
    return __ldg(heads_ + min(turn, (end_ - 1) / 32));
  }
  // `number`: of the first task that begins in the turn or after it.
  __device__ StreamTask load_task(std::uint32_t heads, std::uint32_t number) const {
    const std::uint32_t task = max(number + __popc(heads & upto()), least_);
    const uint2 x = __ldg(reinterpret_cast<const uint2*>(side_.tasks) + task - 1);
    return {static_cast<std::int32_t>(x.x), x.y};
  }
  __device__ Own load_own(const StreamTask& task) const {
    Own own = {0.0F, 0.0F};
    if constexpr (kKind != Kind::sums) own.now = __ldg(v_.own + task.row);
    if constexpr (kKind == Kind::exchange_two || kKind == Kind::exchange_three) {
      own.held = __ldg(v_.own_held + task.row);
    }
    return own;
  }
  // This lane and those below.
  __device__ std::uint32_t upto() const { return kAll >> (31 - lane_); }

  // `before`: tasks that begin before the first word.
  __device__ void start_tasks(std::uint32_t before) {
    const std::uint32_t word = load_heads(0);
    now_.heads = word & having(0);
    next_.heads = load_heads(1) & having(1);
    third_.heads = load_heads(2) & having(2);
    number_ = before + __popc(word) - __popc(word & kAll << begin_);
    least_ = number_ + 1;
    now_.task = load_task(now_.heads, number_);
    number_ += __popc(now_.heads);
    next_.task = load_task(next_.heads, number_);
    number_ += __popc(next_.heads);
    now_.own = load_own(now_.task);
  }

  __device__ __forceinline__ void take(int turn) {
    next_.own = load_own(next_.task);
    third_.task = load_task(third_.heads, number_);
    const std::uint32_t fourth = load_heads(turn + 3);

    if constexpr (kKind == Kind::change) now_.own.now *= v_.sign;
    Sums sums = {0.0F, 0.0F};
    const Indices others = others_.indices();
    rating<kKind>(r_.x, others.at[0], tables_, now_.own, sums);
    rating<kKind>(r_.y, others.at[1], tables_, now_.own, sums);
    rating<kKind>(r_.z, others.at[2], tables_, now_.own, sums);
    rating<kKind>(r_.w, others.at[3], tables_, now_.own, sums);
    if (kKind != Kind::sums && has(turn)) {
      __stcs(reinterpret_cast<float4*>(side_.residual) + quad_ + turn * 32, r_);
    }
    load(turn + 1);
    if constexpr (kKind != Kind::change) add(sums);

    number_ += __popc(third_.heads);
    now_ = next_;
    next_ = third_;
    third_.heads = fourth & having(turn + 3);
  }

  __device__ __forceinline__ void add(const Sums& sums) {
    const std::uint32_t heads = now_.heads;
    if (heads == 0) {
      sums_ = sums_ + sums;
      return;
    }
    const int first = __ffs(static_cast<int>(heads)) - 1;
    const int last = 31 - __clz(static_cast<int>(heads));
    end_task(sums_ + sums.where(lane_ < first));
    if (first < last) add_within(sums, last);
    sums_ = sums.where(lane_ >= last);
    open_ = __shfl_sync(kAll, now_.task.slot, 31);
  }

  // The task that is open, if one is; lanes have its parts.
  __device__ __forceinline__ void end_task(const Sums& parts) {
    if (open_ == kNoSlot) return;
    const Sums all = parts.of_warp();
    if (lane_ == 0) write(open_, all);
  }

  // Tasks that begin and end in the word: each lane sums from the start of its task; the last one
  // of a task has it all.
  __device__ __forceinline__ void add_within(Sums sums, int last) const {
    const int start = 31 - __clz(static_cast<int>(now_.heads & upto()));
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const Sums below = sums.of_lane_below(step);
      if (lane_ - step >= start) sums = sums + below;
    }
    const bool ends = lane_ < last && (now_.heads >> (lane_ + 1) & 1U) != 0;
    if (start >= 0 && ends) write(now_.task.slot, sums);
  }

  __device__ void write(std::uint32_t slot, const Sums& sums) const {
    side_.sums[slot] = make_float2(sums.numerator, sums.denominator);
  }

  static constexpr std::uint32_t kNoSlot = kAll;

  const DeviceSideView& side_;
  const PassVectors& v_;
  const Tables& tables_;
  int lane_;
  const std::uint32_t* heads_;  // of the range's words
  std::int64_t quad_;           // the lane's of the first word
  int begin_, end_;             // of the range, from the first word on
  float4 r_;                    // of the turn that is next, as the others'
  Packed<Index> others_;
  Turn now_, next_, third_;
  std::uint32_t number_;      // of the first task that begins in the third word or after it
  std::uint32_t least_;       // one more than the range's first
  Sums sums_ = {0.0F, 0.0F};  // the lane's part of the open task
  std::uint32_t open_ = kNoSlot;
};

// A tile's part of a vector, and a zero for padding.
__device__ __forceinline__ void load_table(float* to, const float* from, std::int64_t begin,
                                           std::int64_t width, std::int64_t n_others) {
  const auto count = static_cast<int>(min(width, n_others - begin));
  const auto step = static_cast<int>(blockDim.x);
  int i = static_cast<int>(threadIdx.x);
#pragma unroll 8
  for (; i < count; i += step) to[i] = __ldg(from + begin + i);
  for (; i <= width; i += step) to[i] = 0.0F;
}

template <Kind kKind>
__device__ __forceinline__ Tables load_tables(float* shared, const PassVectors& v,
                                              const DeviceSideView& side, std::int64_t tile) {
  const std::int64_t width = side.tile_width;
  const std::int64_t begin = tile * width;
  Tables tables = {};
  float* second = shared + width + 1;
  if constexpr (kKind == Kind::change) {
    load_table(shared, v.old, begin, width, side.n_others);
    tables.old = shared;
  } else {
    load_table(shared, v.now, begin, width, side.n_others);
    tables.now = shared;
    if constexpr (kKind != Kind::sums) {
      load_table(second, v.held, begin, width, side.n_others);
      tables.held = second;
    }
    if constexpr (kKind == Kind::exchange_three) {
      load_table(second + width + 1, v.old, begin, width, side.n_others);
      tables.old = second + width + 1;
    }
  }
  return tables;
}

template <Kind kKind, class Index, bool kShared>
__global__ void __launch_bounds__(kShared ? kSharedThreads : kGlobalThreads,
                                  kShared ? 1 : kGlobalBlocks)
    pass_kernel(const DeviceSideView side, const PassVectors v) {
  extern __shared__ float shared[];
  const std::int32_t last = side.of_block[blockIdx.x + 1];
  for (std::int32_t p = side.of_block[blockIdx.x]; p < last; ++p) {
    const Piece piece = side.pieces[p];
    Tables tables = {v.held, v.old, v.now};
    if constexpr (kShared) {
      __syncthreads();  // before the tables change
      tables = load_tables<kKind>(shared, v, side, piece.tile);
      __syncthreads();
    }
    const Range range = part_of(piece.quads, threadIdx.x / 32, blockDim.x / 32);
    if (range.begin < range.end) Walk<kKind, Index>(side, v, tables, range).run();
  }
}

// r -= p . y, in the order of the factors, by a lane for a quad. `begin`: the first of the others
// of the tile.
template <class Index>
__device__ __forceinline__ void subtract_quad(const DeviceSideView& side, const FactorRows& rows,
                                              std::int64_t begin, std::int64_t quad) {
  const std::int64_t word = quad / kWordQuads;
  const std::uint32_t upto = kAll >> (31 - quad % kWordQuads);
  const StreamTask task = side.tasks[side.before[word] + __popc(side.heads[word] & upto) - 1];
  const auto* own = reinterpret_cast<const float4*>(rows.own + task.row * rows.stride);
  auto* residual = reinterpret_cast<float4*>(side.residual);
  const Indices others = Packed<Index>::load(side.indices, quad).indices();
  const float4 loaded = __ldcs(residual + quad);
  float r[kQuad] = {loaded.x, loaded.y, loaded.z, loaded.w};
  const float4* from[kQuad];
#pragma unroll
  for (int i = 0; i < kQuad; ++i) {
    const std::int64_t other = others.at[i] < side.tile_width ? begin + others.at[i] : begin;
    from[i] = reinterpret_cast<const float4*>(rows.other + other * rows.stride);
  }
#pragma unroll 1
  for (std::int64_t k = 0; k < rows.stride / 4; ++k) {
    const float4 p = __ldg(own + k);
#pragma unroll
    for (int i = 0; i < kQuad; ++i) {
      const float4 y = __ldg(from[i] + k);
      r[i] = fmaf(-p.x, y.x, r[i]);
      r[i] = fmaf(-p.y, y.y, r[i]);
      r[i] = fmaf(-p.z, y.z, r[i]);
      r[i] = fmaf(-p.w, y.w, r[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < kQuad; ++i) {
    if (others.at[i] >= side.tile_width) r[i] = 0;  // padding
  }
  __stcs(residual + quad, make_float4(r[0], r[1], r[2], r[3]));
}

template <class Index, int kThreads>
__global__ void __launch_bounds__(kThreads)
    subtract_kernel(const DeviceSideView side, const FactorRows rows) {
  const std::int32_t last = side.of_block[blockIdx.x + 1];
  for (std::int32_t p = side.of_block[blockIdx.x]; p < last; ++p) {
    const Piece piece = side.pieces[p];
    const std::int64_t begin = piece.tile * side.tile_width;
    for (std::int64_t quad = piece.quads.begin + threadIdx.x; quad < piece.quads.end;
         quad += kThreads) {
      subtract_quad<Index>(side, rows, begin, quad);
    }
  }
}

template <int kLanes>
__global__ void __launch_bounds__(kFinishThreads) finish_kernel(const Finish finish) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kFinishThreads + threadIdx.x;
  const std::int64_t row = thread / kLanes;
  const auto member = static_cast<std::uint32_t>(thread % kLanes);
  double numerator = 0;
  double denominator = 0;
  if (row < finish.rows) {
    const std::uint32_t end = finish.slots[row + 1];
    for (std::uint32_t slot = finish.slots[row] + member; slot < end; slot += kLanes) {
      const float2 sums = finish.sums[slot];
      numerator += sums.x;
      denominator += sums.y;
    }
  }
  numerator = add_lanes<kLanes>(numerator);
  denominator = add_lanes<kLanes>(denominator);
  if (row >= finish.rows || member != 0) return;
  denominator += finish.shrink[row];
  finish.old[row] = finish.vector[row];
  finish.vector[row] = denominator > 0 ? static_cast<float>(numerator / denominator) : 0.0F;
}

__global__ void __launch_bounds__(kTile* kTile)
    transpose_kernel(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride,
                     std::int64_t rows, std::int64_t columns) {
  __shared__ float tile[kTile][kTile + 1];
  const std::int64_t across = (columns + kTile - 1) / kTile;  // tiles, one a block
  const std::int64_t row = blockIdx.x / across * kTile;
  const std::int64_t column = blockIdx.x % across * kTile;
  const auto x = static_cast<std::int64_t>(threadIdx.x);
  const auto y = static_cast<std::int64_t>(threadIdx.y);
  if (row + y < rows && column + x < columns) {
    tile[y][x] = from[(row + y) * from_stride + column + x];
  }
  __syncthreads();
  if (row + x < rows && column + y < columns) {
    to[(column + y) * to_stride + row + x] = tile[x][y];
  }
}

int most_shared_bytes() {
  int device = 0;
  int bytes = 0;
  MF_CUDA(cudaGetDevice(&device));
  MF_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return bytes;
}

template <Kind kKind, class Index, bool kShared>
void launch_kernel(const DeviceSideView& side, const PassVectors& v, cudaStream_t stream) {
  if (side.blocks == 0) return;
  const auto kernel = pass_kernel<kKind, Index, kShared>;
  std::size_t bytes = 0;
  if constexpr (kShared) {
    [[maybe_unused]] static const bool once = [&] {
      MF_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   most_shared_bytes()));
      return true;
    }();
    bytes = static_cast<std::size_t>(side.tile_width + 1) * tables_of(kKind) * sizeof(float);
  }
  kernel<<<side.blocks, kShared ? kSharedThreads : kGlobalThreads, bytes, stream>>>(side, v);
  MF_CUDA_LAUNCHED("ccd++ pass");
}

template <Kind kKind>
void launch_kind(const DeviceSideView& side, const PassVectors& v, cudaStream_t stream) {
  side.shared ? launch_kernel<kKind, std::uint16_t, true>(side, v, stream)
              : launch_kernel<kKind, std::int32_t, false>(side, v, stream);
}

}  // namespace

void launch_exchange(const DeviceSideView& side, const PassVectors& vectors, cudaStream_t stream) {
  vectors.old == vectors.now ? launch_kind<Kind::exchange_two>(side, vectors, stream)
                             : launch_kind<Kind::exchange_three>(side, vectors, stream);
}

void launch_sums(const DeviceSideView& side, const PassVectors& vectors, cudaStream_t stream) {
  launch_kind<Kind::sums>(side, vectors, stream);
}

void launch_change(const DeviceSideView& side, const PassVectors& vectors, cudaStream_t stream) {
  launch_kind<Kind::change>(side, vectors, stream);
}

void launch_subtract(const DeviceSideView& side, const FactorRows& rows, cudaStream_t stream) {
  if (side.blocks == 0) return;
  if (side.shared) {
    subtract_kernel<std::uint16_t, kSharedThreads>
        <<<side.blocks, kSharedThreads, 0, stream>>>(side, rows);
  } else {
    subtract_kernel<std::int32_t, kGlobalThreads>
        <<<side.blocks, kGlobalThreads, 0, stream>>>(side, rows);
  }
  MF_CUDA_LAUNCHED("ccd++ subtract");
}

void launch_finish(const Finish& finish, cudaStream_t stream) {
  if (finish.rows == 0) return;
  if (finish.by_warp) {
    finish_kernel<32>
        <<<cuda::blocks_for(finish.rows * 32, kFinishThreads), kFinishThreads, 0, stream>>>(finish);
  } else {
    finish_kernel<1>
        <<<cuda::blocks_for(finish.rows, kFinishThreads), kFinishThreads, 0, stream>>>(finish);
  }
  MF_CUDA_LAUNCHED("ccd++ finish");
}

void launch_transpose(const float* from, std::int64_t from_stride, float* to,
                      std::int64_t to_stride, std::int64_t rows, std::int64_t columns,
                      cudaStream_t stream) {
  if (rows == 0 || columns == 0) return;
  const unsigned blocks = cuda::blocks_for(rows, kTile) * cuda::blocks_for(columns, kTile);
  transpose_kernel<<<blocks, dim3(kTile, kTile), 0, stream>>>(from, from_stride, to, to_stride,
                                                              rows, columns);
  MF_CUDA_LAUNCHED("ccd++ transpose");
}

std::int64_t widest_tile(int vectors) {
  const std::int64_t numbers = most_shared_bytes() / 4 / vectors;
  return std::min<std::int64_t>(numbers - 1, 65535);
}

PassGrid pass_grid(bool shared) {
  if (shared) return {cuda::multiprocessors(), kSharedThreads / 32};
  return {
      cuda::resident_blocks(pass_kernel<Kind::exchange_three, std::int32_t, false>, kGlobalThreads),
      kGlobalThreads / 32};
}

}  // namespace mf::ccd
