// The draw of row_draw.hpp, a thread block a row: the sums of its parts are added on their way to
// shared memory, the system is factorised there by Cholesky in 16 x 16 blocks, and solved.
//
// als_cpu's kernels factorise A = R R^T, R upper triangular. With rows and columns in the opposite
// order that is the lower Cholesky factor L; so element k of the system stands at n - 1 - k here,
// and both give the same draw from the same numbers.
//
// Column block k: (1) the blocks to its left are subtracted, a warp a block, 2 x 4 elements a lane;
// (2) a warp factorises the diagonal block and the one below it, a row a lane in registers, and
// with them y of L y = b; (3) the other blocks below are divided by it, a row a lane. x of L^T x =
// y + n is found by one warp. A system of NT blocks takes 2 * 4096 NT (NT^2 - 1) / 6 and more
// FLOPs, its slot is read once.
#include "algorithms/bpmf/draw.hpp"

#include "algorithms/bpmf/noise.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::bpmf {
namespace {

constexpr int kTile = als::kFusedTile;
// Floats from one row of a block to the next: rows read four by four are then in different banks.
constexpr int kPitch = kTile + 4;
constexpr int kBlockFloats = kTile * kPitch;
constexpr unsigned kAll = 0xffffffffU;

struct DrawArgs {
  SlotLayout layout;
  DrawRule rule;
  DrawnRows rows;
  std::int32_t factors, drawn;
  bool biased;
};

MF_HD constexpr std::int32_t blocks_of(std::int32_t tiles) { return tiles * (tiles + 1) / 2; }

__device__ __forceinline__ float sum_of_warp(float value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(kAll, value, lane);
  return value;
}

struct Row16 {
  float at[kTile];

  __device__ __forceinline__ void load(const float* from) {
#pragma unroll
    for (int i = 0; i < kTile; i += 4) {
      *reinterpret_cast<float4*>(at + i) = *reinterpret_cast<const float4*>(from + i);
    }
  }
  __device__ __forceinline__ void store(float* to) const {
#pragma unroll
    for (int i = 0; i < kTile; i += 4) {
      *reinterpret_cast<float4*>(to + i) = *reinterpret_cast<const float4*>(at + i);
    }
  }
};

__device__ __forceinline__ float dot(const float4& a, const float4& b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

class RowSystem {
 public:
  __device__ RowSystem(const DrawArgs& args, float* memory)
      : args_(args),
        tiles_(args.layout.tiles),
        lane_(static_cast<int>(threadIdx.x % 32)),
        warp_(static_cast<int>(threadIdx.x / 32)),
        warps_(static_cast<int>(blockDim.x / 32)) {
    const int size = tiles_ * kTile;
    a_ = memory;
    transposed_ = a_ + blocks_of(tiles_) * kBlockFloats;
    sums_ = transposed_ + kTile * kTile;
    offset_ = sums_ + size;
    y_ = offset_ + size;
    noise_ = y_ + size;
    inverse_ = noise_ + size;
  }

  __device__ __forceinline__ void draw() {
    const als::FusedTask& task = args_.rows.tasks[blockIdx.x];
    clear_padding();
    make_noise(task.row);
    load(task);
    __syncthreads();
    shift();
    __syncthreads();
    for (int k = 0; k < tiles_; ++k) {
      for (int i = k + warp_; k > 0 && i < tiles_; i += warps_) subtract_left(i, k);
      if (k > 0) __syncthreads();
      if (warp_ == 0) factor_diagonal(k);
      __syncthreads();
      for (int i = k + 2 + 2 * warp_; i < tiles_; i += 2 * warps_) divide(i + lane_ / 16, k);
      if (k + 2 < tiles_) __syncthreads();
    }
    if (warp_ != 0) return;
    solve();
    store(task.row);
  }

 private:
  __device__ __forceinline__ float* block(int i, int j) const {
    return a_ + (blocks_of(i) + j) * kBlockFloats;
  }
  __device__ __forceinline__ float& element(int i, int j) const {
    return block(i / kTile, j / kTile)[i % kTile * kPitch + j % kTile];
  }

  // Beyond the system: the identity.
  __device__ __forceinline__ void clear_padding() {
    const int size = tiles_ * kTile;
    for (int i = args_.drawn; i < size; ++i) {
      for (int j = static_cast<int>(threadIdx.x); j <= i; j += static_cast<int>(blockDim.x)) {
        element(i, j) = i == j ? 1.0F : 0.0F;
      }
    }
  }

  // noise_[n - 1 - k] is of element k.
  __device__ __forceinline__ void make_noise(std::int32_t row) {
    for (int k = static_cast<int>(threadIdx.x); k < tiles_ * kTile;
         k += static_cast<int>(blockDim.x)) {
      const bool inside = k < args_.drawn;
      noise_[inside ? args_.drawn - 1 - k : k] = inside ? noise(args_.rule.key, row, k) : 0.0F;
    }
  }

  // An element of the lower half of the sums.
  __device__ __forceinline__ void put(int i, int j, float value) {
    const int n = args_.drawn;
    if (j > i || j >= n + 1) return;
    if (i < n) {
      element(n - 1 - j, n - 1 - i) =
          fmaf(args_.rule.alpha, value, __ldg(args_.rule.precision + i * n + j));
    } else if (args_.biased && i == n) {
      offset_[j] = value;
    }
  }

  __device__ __forceinline__ void load(const als::FusedTask& task) {
    const SlotLayout& layout = args_.layout;
    const float* slot = args_.rows.slots + task.first_slot * layout.floats + lane_;
    int number = 0;
    for (int row = 0; row < tiles_; ++row) {
      const float* of_warp = slot + layout.map.warp[row] * 32;
      for (int column = 0; column <= row; ++column, ++number) {
        if (number % warps_ != warp_) continue;
        const int first = (layout.map.first_slot[row] + column) * 8;
        load_block(of_warp + first * layout.threads, task.parts, row, column);
      }
      if (layout.rating_in_row || row % warps_ != warp_) continue;
      load_b(of_warp + (layout.map.slots * 8 + layout.map.ordinal[row] * 4) * layout.threads,
             task.parts, row);
    }
  }

  template <int Count>
  __device__ __forceinline__ void add_parts(const float* from, int parts, float (&sums)[Count]) {
    for (int part = 0; part < parts; ++part, from += args_.layout.floats) {
#pragma unroll
      for (int e = 0; e < Count; ++e) sums[e] += __ldcs(from + e * args_.layout.threads);
    }
  }

  // Elements of a lane: see Accumulators of als/fused/shape.cuh.
  __device__ __forceinline__ void load_block(const float* from, int parts, int row, int column) {
    float sums[8] = {};
    add_parts(from, parts, sums);
    const int i = row * kTile + lane_ / 4;
    const int j = column * kTile + lane_ % 4 * 2;
#pragma unroll
    for (int e = 0; e < 8; ++e) put(i + e / 2 % 2 * 8, j + e % 2 + e / 4 * 8, sums[e]);
    if (!args_.layout.rating_in_row || row + 1 < tiles_) return;
    float b[4] = {sums[2], sums[3], sums[6], sums[7]};
#pragma unroll
    for (float& x : b) x += __shfl_xor_sync(kAll, x, 4);
    if (lane_ >= 4) return;
    sums_[j] = b[0];
    sums_[j + 1] = b[1];
    sums_[j + 8] = b[2];
    sums_[j + 9] = b[3];
  }

  __device__ __forceinline__ void load_b(const float* from, int parts, int row) {
    float sums[4] = {};
    add_parts(from, parts, sums);
    if (lane_ % 4 != 0) return;
    sums_[row * kTile + lane_ / 4] = sums[0] + sums[1];
    sums_[row * kTile + lane_ / 4 + 8] = sums[2] + sums[3];
  }

  // b - the offsets, and the right side of the system in y_.
  __device__ __forceinline__ void shift() {
    const int n = args_.drawn;
    for (int k = static_cast<int>(threadIdx.x); k < tiles_ * kTile;
         k += static_cast<int>(blockDim.x)) {
      if (k < n) {
        if (args_.biased) sums_[k] -= offset_[k];
        y_[n - 1 - k] = fmaf(args_.rule.alpha, sums_[k], __ldg(args_.rule.shift + k));
      } else {
        y_[k] = 0;
      }
    }
  }

  // Block (i, k) less the products of the blocks to its left with those of row k.
  __device__ __forceinline__ void subtract_left(int i, int k) {
    const int row = lane_ / 4;     // and 8 more
    const int column = lane_ % 4;  // and 4, 8 and 12 more
    float* to = block(i, k) + row * kPitch + column;
    float sums[2][4] = {};
    for (int j = 0; j < k; ++j) {
      const float* left = block(i, j) + row * kPitch;
      const float* right = block(k, j) + column * kPitch;
#pragma unroll
      for (int depth = 0; depth < kTile; depth += 4) {
        float4 a[2], b[4];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          a[r] = *reinterpret_cast<const float4*>(left + r * 8 * kPitch + depth);
        }
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          b[c] = *reinterpret_cast<const float4*>(right + c * 4 * kPitch + depth);
        }
#pragma unroll
        for (int r = 0; r < 2; ++r) {
#pragma unroll
          for (int c = 0; c < 4; ++c) sums[r][c] = dot(a[r], b[c], sums[r][c]);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
      for (int c = 0; c < 4; ++c) to[r * 8 * kPitch + c * 4] -= sums[r][c];
    }
  }

  // One warp: lanes 0 to 15 have the rows of the diagonal block, the others those of the one below.
  __device__ __forceinline__ void factor_diagonal(int k) {
    const int r = lane_ % 16;
    const bool diagonal = lane_ < 16;
    const bool exists = diagonal || k + 1 < tiles_;
    float* at = block(exists ? k + lane_ / 16 : k, k) + r * kPitch;
    Row16 row;
    row.load(at);
    float b = rest_of_b(k);
    float y = 0;
    float own_inverse = 0;
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      const float inverse = 1 / sqrtf(__shfl_sync(kAll, row.at[j], j));
      const float l = row.at[j] * inverse;
      row.at[j] = l;
      const float y_j = __shfl_sync(kAll, b, j) * inverse;
      if (r == j) {
        y = y_j;
        own_inverse = inverse;
      }
      b = fmaf(-l, y_j, b);
      if (diagonal) transposed_[j * kTile + r] = l;
#pragma unroll
      for (int c = j + 1; c < kTile; ++c) {
        row.at[c] = fmaf(-l, __shfl_sync(kAll, l, c), row.at[c]);
      }
    }
    if (exists) row.store(at);
    if (!diagonal) return;
    y_[k * kTile + r] = y;
    inverse_[k * kTile + r] = own_inverse;
  }

  // Of row lane % 16 of block row k: b less the products with the y before.
  __device__ __forceinline__ float rest_of_b(int k) {
    const int r = lane_ % 16;
    float sum = 0;
    for (int j = lane_ / 16; j < k; j += 2) {
      const float* left = block(k, j) + r * kPitch;
#pragma unroll
      for (int depth = 0; depth < kTile; depth += 4) {
        sum = dot(*reinterpret_cast<const float4*>(left + depth),
                  *reinterpret_cast<const float4*>(y_ + j * kTile + depth), sum);
      }
    }
    return y_[k * kTile + r] - (sum + __shfl_xor_sync(kAll, sum, 16));
  }

  // Row lane % 16 of block (i, k), divided by the diagonal block; none beyond the last.
  __device__ __forceinline__ void divide(int i, int k) {
    if (i >= tiles_) return;
    float* at = block(i, k) + lane_ % 16 * kPitch;
    Row16 row;
    row.load(at);
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      const float x = row.at[j] * inverse_[k * kTile + j];
      row.at[j] = x;
#pragma unroll
      for (int c = (j + 1) / 4 * 4; c < kTile; c += 4) {
        const float4 l = *reinterpret_cast<const float4*>(transposed_ + j * kTile + c);
        const float of_column[4] = {l.x, l.y, l.z, l.w};
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (c + e > j) row.at[c + e] = fmaf(-x, of_column[e], row.at[c + e]);
        }
      }
    }
    row.store(at);
  }

  // x of L^T x = y + n, into y_; the right side into noise_.
  __device__ __forceinline__ void solve() {
    const int c = lane_ % 16;
    const int half = lane_ / 16;
    for (int k = tiles_ - 1; k >= 0; --k) {
      float sum = 0;
      for (int i = k + 1; i < tiles_; ++i) {
        const float* from = block(i, k) + c;
#pragma unroll
        for (int r = 0; r < kTile; r += 2) {
          sum = fmaf(from[(r + half) * kPitch], y_[i * kTile + r + half], sum);
        }
      }
      sum += __shfl_xor_sync(kAll, sum, 16);
      const float right = y_[k * kTile + c] + noise_[k * kTile + c];
      float rest = right - sum;
      float x = 0;
      const float* from = block(k, k) + c;
#pragma unroll
      for (int j = kTile - 1; j >= 0; --j) {
        const float x_j = __shfl_sync(kAll, rest, j) * inverse_[k * kTile + j];
        if (c == j) x = x_j;
        rest = fmaf(-from[j * kPitch], x_j, rest);
      }
      __syncwarp();
      if (half == 0) {
        y_[k * kTile + c] = x;
        noise_[k * kTile + c] = right;
      }
      __syncwarp();
    }
  }

  __device__ __forceinline__ void store(std::int32_t row) {
    const int n = args_.drawn;
    float* to = args_.rows.rows + row * args_.rows.stride;
    const std::int64_t narrow = row * args_.rows.narrow_stride;
    for (int k = lane_; k < n; k += 32) {
      const float x = y_[n - 1 - k];
      const int place = k < args_.factors ? k : args_.factors + 1;
      to[place] = x;
      const __half high = __float2half_rn(x);
      args_.rows.narrow.high[narrow + place] = high;
      if (args_.rows.narrow.low == nullptr) continue;
      args_.rows.narrow.low[narrow + place] = __float2half_rn(x - __half2float(high));
    }
    if (args_.rows.residuals != nullptr) store_residual(row);
  }

  // The sum of squared errors less that of squared ratings (row_draw.cpp).
  __device__ __forceinline__ void store_residual(std::int32_t row) {
    const int n = args_.drawn;
    float products = 0;
    float fitted = 0;
    for (int k = lane_; k < n; k += 32) {
      const float x = y_[n - 1 - k];
      float product = 0;
      for (int j = 0; j < n; ++j) {
        product = fmaf(__ldg(args_.rule.precision + j * n + k), y_[n - 1 - j], product);
      }
      products = fmaf(x, sums_[k], products);
      fitted += noise_[n - 1 - k] * noise_[n - 1 - k] - x * product;
    }
    const float sum = sum_of_warp(fitted / args_.rule.alpha - 2 * products);
    const float square = args_.biased ? offset_[n] - 2 * sums_[n] : 0.0F;
    if (lane_ == 0) args_.rows.residuals[row] = sum + square;
  }

  const DrawArgs& args_;
  int tiles_, lane_, warp_, warps_;
  float *a_, *transposed_;
  float* sums_;    // b, in the order of the slots
  float* offset_;  // of biased rows: the sums with the other side's biases
  float *y_, *noise_, *inverse_;
};

__global__ void draw_kernel(const __grid_constant__ DrawArgs args) {
  extern __shared__ __align__(16) float memory[];
  RowSystem(args, memory).draw();
}

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    ones_kernel(const std::int64_t* offsets, std::int64_t count, float* rows, std::int64_t stride,
                std::int32_t column) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row < count && offsets[row] < offsets[row + 1]) rows[row * stride + column] = 1;
}

// Of a block: one up to 64 numbers, where a row's system is as quick alone.
int draw_threads(std::int32_t tiles) { return tiles <= 4 ? 32 : tiles <= 8 ? 64 : 128; }

}  // namespace

SlotLayout SlotLayout::of(als::FusedPrecision precision, const als::FusedRule& rule) {
  SlotLayout layout;
  layout.tiles = als::fused_tiles(rule.factors);
  const int warps = als::fused_warps(layout.tiles, precision == als::FusedPrecision::fp16x2);
  layout.map = als::fused_map(layout.tiles, warps);
  layout.threads = 32 * warps;
  layout.floats = als::fused_slot_floats(precision, rule);
  layout.rating_in_row = rule.factors <= layout.tiles * kTile - 8;
  return layout;
}

std::size_t draw_shared_bytes(std::int32_t tiles) {
  return sizeof(float) * (static_cast<std::size_t>(blocks_of(tiles)) * kBlockFloats +
                          kTile * kTile + std::size_t{5} * tiles * kTile);
}

void launch_draw(const SlotLayout& layout, const RowColumns& columns, const DrawRule& rule,
                 const DrawnRows& rows, cudaStream_t stream) {
  if (rows.count == 0) return;
  const std::size_t shared = draw_shared_bytes(layout.tiles);
  MF_CUDA(cudaFuncSetAttribute(draw_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)));
  const DrawArgs args = {layout, rule, rows, columns.factors, columns.drawn(), columns.biased};
  draw_kernel<<<static_cast<unsigned>(rows.count), draw_threads(layout.tiles), shared, stream>>>(
      args);
  MF_CUDA_LAUNCHED("draw_kernel");
}

void launch_ones(const std::int64_t* offsets, std::int64_t count, float* rows, std::int64_t stride,
                 std::int32_t column, cudaStream_t stream) {
  if (count == 0) return;
  ones_kernel<<<cuda::blocks_for(count, kThreads), kThreads, 0, stream>>>(offsets, count, rows,
                                                                          stride, column);
  MF_CUDA_LAUNCHED("ones_kernel");
}

}  // namespace mf::bpmf
