// get_hermitian for rows of more factors than a thread block has registers for: A_u in squares of
// kSide x kSide of its lower half, a thread block each.
//
// A square takes its ratings kBin at a time. Their rows of Theta are staged in shared memory, cut
// to the square's rows and to its columns, which are the same on the diagonal; the next kBin travel
// to registers meanwhile. Each thread adds theta theta^T of its 8 x 8 elements. A square leaves the
// registers twice, as it is and as its mirror image.
//
// A row of n ratings, f factors, q = f / kSide squares a side, A stored in values of s bytes: n f
// (f + kSide) FLOPs; 4 n f (q + 1) bytes of rows read, mostly from the L2 cache, s f^2 written. In
// fp16 also 2 n f FLOPs and 4 n f bytes for the diagonal, which gives the scale.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "algorithms/als/cumf/hermitian/hermitian.cuh"
#include "algorithms/core/cuda/check.hpp"

namespace mf::als {
namespace {

constexpr int kSide = 128;
constexpr int kBin = 16;
constexpr int kWideThreads = 256;  // 16 x 16
constexpr int kWordsOfSide = kSide / 4;
constexpr int kLoads = kBin * kWordsOfSide / kWideThreads;  // words a thread brings of a panel

// Ratings' rows, columns `first` to first + kSide: a warp reads one of them, then the next.
struct Panel {
  float4 word[kLoads];

  // Zero beyond the ratings, and beyond the row.
  template <bool kWeighted>
  __device__ void load(const HermitianArgs& a, std::int64_t begin, int count, int first) {
    const int column = first + static_cast<int>(threadIdx.x) % kWordsOfSide * 4;
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int k =
          i * (kWideThreads / kWordsOfSide) + static_cast<int>(threadIdx.x) / kWordsOfSide;
      word[i] = float4{0, 0, 0, 0};
      if (k >= count || column >= a.stride) continue;
      const std::int64_t other = __ldg(a.others + begin + k);
      word[i] = load_constant(reinterpret_cast<const float4*>(a.theta + other * a.stride + column));
      if constexpr (kWeighted) word[i] = scaled(word[i], sqrtf(__ldg(a.weights + begin + k)));
    }
  }
  __device__ void store(float* stage) const {
    auto* to = reinterpret_cast<float4*>(stage);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) to[i * kWideThreads + threadIdx.x] = word[i];
  }
};

// Rows (or columns) of a thread in its square: `of_thread` * 4 + 0 ... 3, and 64 more.
__device__ __forceinline__ int place(int of_thread, int i) {
  return of_thread * 4 + i % 4 + i / 4 * (kSide / 2);
}

__device__ __forceinline__ void read_eight(const float* row, int of_thread, float (&out)[8]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float4 x = *reinterpret_cast<const float4*>(row + place(of_thread, 4 * half));
    out[4 * half] = x.x;
    out[4 * half + 1] = x.y;
    out[4 * half + 2] = x.z;
    out[4 * half + 3] = x.w;
  }
}

// The square that this thread block forms, and the elements of this thread.
struct Square {
  int first_row;
  int first_column;  // <= first_row
  int down = static_cast<int>(threadIdx.x) / 16;
  int across = static_cast<int>(threadIdx.x) % 16;
  float sum[8][8];

  __device__ explicit Square(const Quad& at)
      : first_row(at.row * kSide), first_column(at.column * kSide) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) sum[i][j] = 0.0F;
    }
  }
  __device__ bool on_diagonal() const { return first_row == first_column; }

  __device__ void add(const float* rows, const float* columns) {
#pragma unroll 4
    for (int k = 0; k < kBin; ++k) {
      float a[8];
      float b[8];
      read_eight(rows + k * kSide, down, a);
      read_eight(columns + k * kSide, across, b);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
      }
    }
  }
};

// Columns `column` to column + 3 of row `row` of A.
__device__ __forceinline__ void write_word(const HermitianArgs& a, const Destination& to, int row,
                                           int column, float4 x) {
  if (row >= a.factors) return;
  const AStorage storage = to.wide != nullptr ? AStorage::fp32 : AStorage::fp16;
  const std::int64_t pitch = a_pitch(storage, a.factors);
  if (column >= pitch) return;
  const std::int64_t at = row * pitch + column;
  x = with_diagonal(x, row, column, to.diagonal);
  if (to.wide != nullptr) {
    if (to.base != nullptr) x = add4(x, __ldg(reinterpret_cast<const float4*>(to.base + at)));
    *reinterpret_cast<float4*>(to.wide + at) = x;
    return;
  }
  const __half2 low = __floats2half2_rn(x.x * to.factor, x.y * to.factor);
  const __half2 high = __floats2half2_rn(x.z * to.factor, x.w * to.factor);
  *reinterpret_cast<uint2*>(to.narrow + at) =
      uint2{*reinterpret_cast<const unsigned*>(&low), *reinterpret_cast<const unsigned*>(&high)};
}

__device__ __forceinline__ void write_square(const HermitianArgs& a, const Destination& to,
                                             const Square& s) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 8; j += 4) {
      write_word(a, to, s.first_row + place(s.down, i), s.first_column + place(s.across, j),
                 {s.sum[i][j], s.sum[i][j + 1], s.sum[i][j + 2], s.sum[i][j + 3]});
      if (s.on_diagonal()) continue;
      write_word(a, to, s.first_column + place(s.across, i), s.first_row + place(s.down, j),
                 {s.sum[j][i], s.sum[j + 1][i], s.sum[j + 2][i], s.sum[j + 3][i]});
    }
  }
}

// blockIdx.y is the number of the square.
template <bool kWeighted>
__global__ void __launch_bounds__(kWideThreads, 2) wide_kernel(const HermitianArgs a) {
  __shared__ __align__(16) float staged[2][2][kBin * kSide];  // rows, columns; by turns
  const RowTask task = a.tasks[blockIdx.x];
  Square square(quad_at(static_cast<int>(blockIdx.y)));
  const bool both = !square.on_diagonal();
  Panel rows;
  Panel columns;
  const auto load = [&](int first) {
    const int count = task.count - first;
    rows.load<kWeighted>(a, task.begin + first, count, square.first_row);
    if (both) columns.load<kWeighted>(a, task.begin + first, count, square.first_column);
  };
  load(0);
  int turn = 0;
#pragma unroll 1
  for (int first = 0; first < task.count; first += kBin, turn ^= 1) {
    rows.store(staged[turn][0]);
    if (both) columns.store(staged[turn][1]);
    __syncthreads();
    load(first + kBin);
    square.add(staged[turn][0], staged[turn][both ? 1 : 0]);
  }
  Destination to = place_of(a, task);
  if (to.narrow != nullptr) to.factor = 1.0F / a.scale[task.slot];  // powers of two
  write_square(a, to, square);
}

// The scale of fp16, of rows that are whole: a thread a factor at a time.
__global__ void __launch_bounds__(kWideThreads) scale_kernel(const HermitianArgs a) {
  __shared__ int largest;
  const RowTask task = a.tasks[blockIdx.x];
  if (task.part >= 0) return;  // found when the parts are added
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  const float diagonal = row_reg(a.reg, a.reg_power, task.count);
  for (int i = static_cast<int>(threadIdx.x); i < a.factors; i += kWideThreads) {
    float sum = 0.0F;
    for (int k = 0; k < task.count; ++k) {
      const float x = __ldg(a.theta + __ldg(a.others + task.begin + k) * a.stride + i);
      sum = fmaf(x, x, sum);
    }
    atomicMax(&largest, __float_as_int(sum + diagonal));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  a.scale[task.slot] = ldexpf(1.0F, -fp16_exponent(__int_as_float(largest)));
}

}  // namespace

void launch_wide(const HermitianArgs& args, cudaStream_t stream) {
  const auto tasks = static_cast<unsigned>(args.n_tasks);
  if (args.storage == AStorage::fp16) {
    scale_kernel<<<tasks, kWideThreads, 0, stream>>>(args);
    MF_CUDA_LAUNCHED("als scale");
  }
  const int side = (args.factors + kSide - 1) / kSide;
  const dim3 grid(tasks, static_cast<unsigned>(side * (side + 1) / 2));
  const auto kernel = args.weights != nullptr ? wide_kernel<true> : wide_kernel<false>;
  kernel<<<grid, kWideThreads, 0, stream>>>(args);
  MF_CUDA_LAUNCHED("als get_hermitian, wide");
}

}  // namespace mf::als
