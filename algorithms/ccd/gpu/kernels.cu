// The passes of ccd++. A block of threads does the pieces of its run. Where tiles are narrow, it
// first copies the tile's part of the vectors that it gathers from into shared memory: v', v and,
// where they differ, the v that the sums have. A warp does a long task, eight lanes a short one:
//
//   r += u v_j - u' v'_j;  numerator += r w_j;  denominator += w_j^2
//
// A lane takes quads of ratings: 8 or 16 bytes of indices and 16 of R, two quads at a time. A
// rating of a pass costs 6 bytes read from device memory (8 with wide indices) and 4 written where
// R changes, 2 or 3 gathered words, and 8 FLOPs. The lanes' sums are added in a fixed order, and so
// are those of a row's tasks (finish_kernel): nothing depends on which warp does what.
#include "algorithms/ccd/gpu/kernels.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::ccd {
namespace {

constexpr int kSharedThreads = 1024;  // one block a multiprocessor: its tables fill shared memory
constexpr int kGlobalThreads = 256;
constexpr int kFinishThreads = 256;
constexpr int kShortLanes = 8;
constexpr int kTile = 32;  // of a transpose
constexpr unsigned kAll = 0xFFFFFFFFU;
// Of the kernel's own variables in shared memory.
constexpr std::int64_t kStaticBytes = 256;

// exchange_two: `old` is `now`.
enum class Kind { exchange_two, exchange_three, sums, change };

constexpr int tables_of(Kind kind) {
  return kind == Kind::exchange_three ? 3 : kind == Kind::exchange_two ? 2 : 1;
}

struct Indices {
  std::int32_t at[kQuad];
};

__device__ __forceinline__ Indices load_indices(const std::uint16_t* from, std::int64_t quad) {
  const uint2 x = __ldcs(reinterpret_cast<const uint2*>(from) + quad);
  return {{static_cast<std::int32_t>(x.x & 0xFFFFU), static_cast<std::int32_t>(x.x >> 16),
           static_cast<std::int32_t>(x.y & 0xFFFFU), static_cast<std::int32_t>(x.y >> 16)}};
}

__device__ __forceinline__ Indices load_indices(const std::int32_t* from, std::int64_t quad) {
  const int4 x = __ldcs(reinterpret_cast<const int4*>(from) + quad);
  return {{x.x, x.y, x.z, x.w}};
}

__device__ __forceinline__ Task load_task(const Task* from) {
  const uint4 x = __ldg(reinterpret_cast<const uint4*>(from));
  return {x.x, x.y, static_cast<std::int32_t>(x.z), static_cast<std::int32_t>(x.w)};
}
static_assert(sizeof(Task) == sizeof(uint4));

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

// What is gathered from.
struct Tables {
  const float* held;
  const float* old;
  const float* now;
};

template <Kind kKind>
struct Row {
  float own, own_held, numerator, denominator;

  __device__ __forceinline__ void rating(float& r, std::int32_t other, const Tables& tables) {
    if constexpr (kKind == Kind::change) {
      r = fmaf(own, tables.old[other], r);
    } else {
      const float now = tables.now[other];
      if constexpr (kKind != Kind::sums) {
        const float old = kKind == Kind::exchange_two ? now : tables.old[other];
        r = fmaf(own, old, fmaf(-own_held, tables.held[other], r));
      }
      numerator = fmaf(r, now, numerator);
      denominator = fmaf(now, now, denominator);
    }
  }

  __device__ __forceinline__ void quad(float4& r, const Indices& others, const Tables& tables) {
    rating(r.x, others.at[0], tables);
    rating(r.y, others.at[1], tables);
    rating(r.z, others.at[2], tables);
    rating(r.w, others.at[3], tables);
  }
};

// A task by kLanes lanes, of which this is `member`; all lanes of the warp call it, those without a
// task with one of no units.
template <Kind kKind, class Index, int kLanes>
__device__ __forceinline__ void run_task(const DeviceSideView& side, const PassVectors& v,
                                         const Tables& tables, const Task& task, int member) {
  const auto* indices = static_cast<const Index*>(side.indices);
  auto* residual = reinterpret_cast<float4*>(side.residual);
  Row<kKind> row = {0.0F, 0.0F, 0.0F, 0.0F};
  if (kKind != Kind::sums && task.units > 0) {
    row.own = v.sign * __ldg(v.own + task.row);
    if (kKind != Kind::change) row.own_held = __ldg(v.own_held + task.row);
  }
#pragma unroll 1
  for (int unit = member; unit < task.units; unit += 2 * kLanes) {
    const bool two = unit + kLanes < task.units;
    const std::int64_t at = std::int64_t{task.begin} + unit;
    const Indices others = load_indices(indices, at);
    float4 r = __ldcs(residual + at);
    Indices others2 = {};
    float4 r2 = {};
    if (two) {
      others2 = load_indices(indices, at + kLanes);
      r2 = __ldcs(residual + at + kLanes);
    }
    row.quad(r, others, tables);
    if (kKind != Kind::sums) __stcs(residual + at, r);
    if (two) {
      row.quad(r2, others2, tables);
      if (kKind != Kind::sums) __stcs(residual + at + kLanes, r2);
    }
  }
  if constexpr (kKind != Kind::change) {
    const float numerator = add_lanes<kLanes>(row.numerator);
    const float denominator = add_lanes<kLanes>(row.denominator);
    if (member == 0 && task.units > 0) side.sums[task.slot] = make_float2(numerator, denominator);
  }
}

__device__ __forceinline__ Task task_or_none(const Task* tasks, std::int64_t at, std::int64_t end) {
  return at < end ? load_task(tasks + at) : Task{0, 0, 0, 0};
}

__device__ __forceinline__ void prefetch(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

// The lines of a task to the second-level cache: it waits less for them once it is its turn.
template <class Index, int kLanes>
__device__ __forceinline__ void prefetch_task(const DeviceSideView& side, const Task& task,
                                              int member) {
  constexpr int kLine = 128;
  const std::int64_t begin = std::int64_t{task.begin} * kQuad;
  const auto lines = [&](const auto* from) {
    const auto* bytes = reinterpret_cast<const char*>(from + begin);
    const int size = task.units * static_cast<int>(kQuad * sizeof(*from));
    for (int at = member * kLine; at < size; at += kLanes * kLine) prefetch(bytes + at);
  };
  lines(side.residual);
  lines(static_cast<const Index*>(side.indices));
}

// Groups of kLanes lanes take the tasks [begin, end) in turn, a warp's groups together, as warps
// become free. A task is known two turns before it is done, and fetched one turn before.
template <Kind kKind, class Index, int kLanes>
__device__ __forceinline__ void run_tasks(const DeviceSideView& side, const PassVectors& v,
                                          const Tables& tables, std::int64_t begin,
                                          std::int64_t end, int* next) {
  constexpr int kGroups = 32 / kLanes;  // of a warp
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int member = lane % kLanes;
  const auto take = [&] {
    int turn = 0;
    if (lane == 0) turn = atomicAdd(next, kGroups);
    return begin + __shfl_sync(kAll, turn, 0);
  };
  const auto task_at = [&](std::int64_t first) {
    return task_or_none(side.tasks, first + lane / kLanes, end);
  };
  std::int64_t at = take();
  Task task = task_at(at);
  std::int64_t at_second = take();
  Task second = task_at(at_second);
  while (at < end) {
    prefetch_task<Index, kLanes>(side, second, member);
    const std::int64_t at_third = take();
    const Task third = task_at(at_third);
    run_task<kKind, Index, kLanes>(side, v, tables, task, member);
    at = at_second;
    task = second;
    at_second = at_third;
    second = third;
  }
}

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
__global__ void __launch_bounds__(kShared ? kSharedThreads : kGlobalThreads)
    pass_kernel(const DeviceSideView side, const PassVectors v) {
  extern __shared__ float shared[];
  __shared__ int next[2];  // long and short task of the piece
  const std::int32_t last = side.of_block[blockIdx.x + 1];
  for (std::int32_t p = side.of_block[blockIdx.x]; p < last; ++p) {
    const Piece piece = side.pieces[p];
    Tables tables = {v.held, v.old, v.now};
    if constexpr (kShared) tables = load_tables<kKind>(shared, v, side, piece.tile);
    if (threadIdx.x < 2) next[threadIdx.x] = 0;
    __syncthreads();
    run_tasks<kKind, Index, 32>(side, v, tables, piece.long_begin, piece.long_end, &next[0]);
    run_tasks<kKind, Index, kShortLanes>(side, v, tables, piece.short_begin, piece.short_end,
                                         &next[1]);
    __syncthreads();  // before the tables and `next` change
  }
}

// r -= p . y, in the order of the factors, by eight lanes, a quad each at a time. `begin`: the
// first of the others of the tile.
template <class Index>
__device__ __forceinline__ void subtract_task(const DeviceSideView& side, const FactorRows& rows,
                                              std::int64_t begin, const Task& task, int member) {
  const auto* indices = static_cast<const Index*>(side.indices);
  auto* residual = reinterpret_cast<float4*>(side.residual);
  const auto* own = reinterpret_cast<const float4*>(rows.own + task.row * rows.stride);
  for (int unit = member; unit < task.units; unit += kShortLanes) {
    const std::int64_t at = std::int64_t{task.begin} + unit;
    const Indices others = load_indices(indices, at);
    const float4 loaded = __ldcs(residual + at);
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
    __stcs(residual + at, make_float4(r[0], r[1], r[2], r[3]));
  }
}

template <class Index, int kThreads>
__global__ void __launch_bounds__(kThreads)
    subtract_kernel(const DeviceSideView side, const FactorRows rows) {
  constexpr int kGroups = kThreads / kShortLanes;
  const int group = static_cast<int>(threadIdx.x) / kShortLanes;
  const int member = static_cast<int>(threadIdx.x) % kShortLanes;
  const std::int32_t last = side.of_block[blockIdx.x + 1];
  for (std::int32_t p = side.of_block[blockIdx.x]; p < last; ++p) {
    const Piece piece = side.pieces[p];
    const std::int64_t begin = piece.tile * side.tile_width;
    for (std::int64_t t = piece.long_begin + group; t < piece.long_end; t += kGroups) {
      subtract_task<Index>(side, rows, begin, load_task(side.tasks + t), member);
    }
    for (std::int64_t t = piece.short_begin + group; t < piece.short_end; t += kGroups) {
      subtract_task<Index>(side, rows, begin, load_task(side.tasks + t), member);
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
                                   most_shared_bytes() - static_cast<int>(kStaticBytes)));
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
  const std::int64_t numbers = (most_shared_bytes() - kStaticBytes) / 4 / vectors;
  return std::min<std::int64_t>(numbers - 1, 65535);
}

std::int64_t pass_blocks(bool shared) {
  return shared ? cuda::multiprocessors()
                : cuda::resident_blocks(pass_kernel<Kind::exchange_three, std::int32_t, false>,
                                        kGlobalThreads);
}

}  // namespace mf::ccd
