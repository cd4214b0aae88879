// The draw of row_draw.hpp, a thread block a row: the sums of its parts are added on their way to
// shared memory, the system is factorised there by Cholesky in 16 x 16 blocks, and solved.
//
// als_cpu's kernels factorise A = R R^T, R upper triangular. With rows and columns in the opposite
// order that is the lower Cholesky factor L; so element k of the system stands at 16 NT - 1 - k
// here, behind what fills up its NT blocks, and both give the same draw from the same numbers.
//
// Column block k: (1) tensor cores subtract the products of the blocks to its left, a warp a block,
// each number as a sum of two in TF32; (2) a warp factorises the diagonal block and the one below
// it, a row a lane in registers, and with them y of L y = b; (3) the other blocks below are divided
// by it, a row a lane. x of L^T x = y + n is found by one warp. (1) is NT (NT^2 - 1) / 6 products
// of blocks, 8,192 FLOPs each, done three times; a slot is read once. README.md has floors.
#include "algorithms/bpmf/draw.hpp"

#include "algorithms/bpmf/noise.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::bpmf {
namespace {

constexpr int kTile = als::kFusedTile;
constexpr int kBlockFloats = kTile * kTile;
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

// x = high + low, with high the nearest TF32 and low the rest, of which the tensor cores take the
// first bits: 2^-21 of x is lost. (cvt.rna.tf32 takes three times as many instructions.)
__device__ __forceinline__ void split(float x, std::uint32_t& high, std::uint32_t& low) {
  high = (__float_as_uint(x) + 0x1000U) & 0xffffe000U;
  low = __float_as_uint(x - __uint_as_float(high));
}

// c += a b: 16 x 8, 8 x 8.
__device__ __forceinline__ void multiply_add(float (&c)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The place of element (row, column) in its block: of a row's four words of four, word w is at w ^
// (row / 2 % 4), so that the words of eight rows, one below the other, are in different banks.
__device__ __forceinline__ int element_at(int row, int column) {
  return row * kTile + ((column / 4) ^ (row / 2 % 4)) * 4 + column % 4;
}

struct Row16 {
  float at[kTile];

  __device__ __forceinline__ void load(const float* block, int row) {
#pragma unroll
    for (int i = 0; i < kTile; i += 4) {
      *reinterpret_cast<float4*>(at + i) =
          *reinterpret_cast<const float4*>(block + element_at(row, i));
    }
  }
  __device__ __forceinline__ void store(float* block, int row) const {
#pragma unroll
    for (int i = 0; i < kTile; i += 4) {
      *reinterpret_cast<float4*>(block + element_at(row, i)) =
          *reinterpret_cast<const float4*>(at + i);
    }
  }
};

// kAtOnce: blocks that a warp loads together.
template <int kAtOnce>
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
  __device__ __forceinline__ int place(int k) const { return tiles_ * kTile - 1 - k; }

  __device__ __forceinline__ void make_noise(std::int32_t row) {
    for (int k = static_cast<int>(threadIdx.x); k < tiles_ * kTile;
         k += static_cast<int>(blockDim.x)) {
      noise_[place(k)] = k < args_.drawn ? noise(args_.rule.key, row, k) : 0.0F;
    }
  }

  // The numbers that a warp loads at a time, so that all are under way while noise is made.
  struct Loaded {
    float of[kAtOnce][8];
  };

  __device__ __forceinline__ void load(const als::FusedTask& task) {
    const SlotLayout& layout = args_.layout;
    const float* slot = args_.rows.slots + task.first_slot * layout.floats + lane_;
    const int blocks = blocks_of(tiles_);
    Loaded sums;
    load_part(slot, warp_, sums);
    make_noise(task.row);
    for (int first = warp_; first < blocks; first += warps_ * kAtOnce) {
      if (first != warp_) load_part(slot, first, sums);
      for (int part = 1; part < task.parts; ++part) {
        add_part(slot + part * layout.floats, first, sums);
      }
#pragma unroll
      for (int b = 0; b < kAtOnce; ++b) {
        const int number = first + b * warps_;
        if (number < blocks) put(layout.blocks[number], sums.of[b]);
      }
    }
    if (layout.rating_in_row) return;
    for (int row = warp_; row < tiles_; row += warps_) {
      load_b(slot + layout.b_offset[row], task.parts, row);
    }
  }

  // For the blocks first, first + warps, ...
  __device__ __forceinline__ void load_part(const float* slot, int first, Loaded& to) {
#pragma unroll
    for (int b = 0; b < kAtOnce; ++b) {
      const int number = min(first + b * warps_, blocks_of(tiles_) - 1);
      const float* from = slot + args_.layout.blocks[number].offset;
#pragma unroll
      for (int e = 0; e < 8; ++e) to.of[b][e] = __ldcs(from + e * args_.layout.threads);
    }
  }
  __device__ __forceinline__ void add_part(const float* slot, int first, Loaded& to) {
    Loaded more;
    load_part(slot, first, more);
#pragma unroll
    for (int b = 0; b < kAtOnce; ++b) {
#pragma unroll
      for (int e = 0; e < 8; ++e) to.of[b][e] += more.of[b][e];
    }
  }

  // A block of A, in the opposite order.
  __device__ __forceinline__ void put(const SlotLayout::Block& from, const float (&sums)[8]) {
    const float* prior = args_.rule.in_slot + from.offset + lane_;
    const int i = from.row * kTile + lane_ / 4;
    const int j = from.column * kTile + lane_ % 4 * 2;
    float* to = block(tiles_ - 1 - from.column, tiles_ - 1 - from.row);
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const int down = e / 2 % 2 * 8;
      const int right = e % 2 + e / 4 * 8;
      const float alpha = i + down < args_.drawn ? args_.rule.alpha : 0.0F;
      to[element_at(kTile - 1 - lane_ % 4 * 2 - right, kTile - 1 - lane_ / 4 - down)] =
          fmaf(alpha, sums[e], __ldg(prior + e * args_.layout.threads));
      if (args_.biased && i + down == args_.drawn) offset_[j + right] = sums[e];
    }
    if (args_.layout.rating_in_row && from.row + 1 == tiles_) put_b(j, sums);
  }

  __device__ __forceinline__ void put_b(int j, const float (&sums)[8]) {
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
    for (int part = 0; part < parts; ++part, from += args_.layout.floats) {
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[e] += __ldcs(from + e * args_.layout.threads);
    }
    if (lane_ % 4 != 0) return;
    sums_[row * kTile + lane_ / 4] = sums[0] + sums[1];
    sums_[row * kTile + lane_ / 4 + 8] = sums[2] + sums[3];
  }

  // b less the offsets, and the right side of the system in y_.
  __device__ __forceinline__ void shift() {
    for (int k = static_cast<int>(threadIdx.x); k < tiles_ * kTile;
         k += static_cast<int>(blockDim.x)) {
      const bool inside = k < args_.drawn;
      if (inside && args_.biased) sums_[k] -= offset_[k];
      y_[place(k)] = inside ? fmaf(args_.rule.alpha, sums_[k], __ldg(args_.rule.shift + k)) : 0.0F;
    }
  }

  // Block (i, k) less the products of the blocks to its left with the blocks of row k.
  __device__ __forceinline__ void subtract_left(int i, int k) {
    const int row = lane_ / 4;  // and 8 more, whose words lie alike
    const int t = lane_ % 4;
    float sums[2][4] = {};
    for (int j = 0; j < k; ++j) {
      const float* left = block(i, j);
      const float* right = block(k, j);
#pragma unroll
      for (int depth = 0; depth < kTile; depth += 8) {
        const int at[2] = {element_at(row, depth) + t, element_at(row, depth + 4) + t};
        std::uint32_t high[4], low[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          split(left[at[r / 2] + r % 2 * 8 * kTile], high[r], low[r]);
        }
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          std::uint32_t right_high[2], right_low[2];
#pragma unroll
          for (int r = 0; r < 2; ++r) {
            split(right[at[r] + c * 8 * kTile], right_high[r], right_low[r]);
          }
          multiply_add(sums[c], low, right_high);
          multiply_add(sums[c], high, right_low);
          multiply_add(sums[c], high, right_high);
        }
      }
    }
    float* to = block(i, k);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        to[element_at(row, c * 8 + t * 2 + e % 2) + e / 2 * 8 * kTile] -= sums[c][e];
      }
    }
  }

  // One warp: lanes 0 to 15 have the rows of the diagonal block, the others the rows of the one
  // below.
  __device__ __forceinline__ void factor_diagonal(int k) {
    const int r = lane_ % 16;
    const bool diagonal = lane_ < 16;
    const bool exists = diagonal || k + 1 < tiles_;
    float* of = block(exists ? k + lane_ / 16 : k, k);
    Row16 row;
    row.load(of, r);
    float pivot =
        of[element_at(r, r)];  // of a diagonal row: ahead of the row, which waits for others
    float b = rest_of_b(k);
    float y = 0;
    float own_inverse = 0;
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      const float inverse = rsqrtf(__shfl_sync(kAll, pivot, j));
      const float l = row.at[j] * inverse;
      row.at[j] = l;
      pivot = fmaf(-l, l, pivot);
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
    __syncwarp();
    if (exists) row.store(of, r);
    if (!diagonal) return;
    y_[k * kTile + r] = y;
    inverse_[k * kTile + r] = own_inverse;
  }

  // For row lane % 16 of block row k: b less the products with the y before.
  __device__ __forceinline__ float rest_of_b(int k) {
    const int r = lane_ % 16;
    float sum = 0;
    for (int j = lane_ / 16; j < k; j += 2) {
      Row16 left;
      left.load(block(k, j), r);
#pragma unroll
      for (int c = 0; c < kTile; ++c) sum = fmaf(left.at[c], y_[j * kTile + c], sum);
    }
    return y_[k * kTile + r] - (sum + __shfl_xor_sync(kAll, sum, 16));
  }

  // Row lane % 16 of block (i, k), divided by the diagonal block; none beyond the last.
  __device__ __forceinline__ void divide(int i, int k) {
    if (i >= tiles_) return;
    float* of = block(i, k);
    Row16 row;
    row.load(of, lane_ % 16);
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
    row.store(of, lane_ % 16);
  }

  // x of L^T x = y + n, into y_; the right side into noise_.
  __device__ __forceinline__ void solve() {
    const int c = lane_ % 16;
    const int half = lane_ / 16;
    for (int k = tiles_ - 1; k >= 0; --k) {
      float sum = 0;
      for (int i = k + 1; i < tiles_; ++i) {
        const float* from = block(i, k);
#pragma unroll
        for (int r = 0; r < kTile; r += 2) {
          sum = fmaf(from[element_at(r + half, c)], y_[i * kTile + r + half], sum);
        }
      }
      sum += __shfl_xor_sync(kAll, sum, 16);
      const float right = y_[k * kTile + c] + noise_[k * kTile + c];
      float rest = right - sum;
      float x = 0;
      const float* from = block(k, k);
#pragma unroll
      for (int j = kTile - 1; j >= 0; --j) {
        const float x_j = __shfl_sync(kAll, rest, j) * inverse_[k * kTile + j];
        if (c == j) x = x_j;
        rest = fmaf(-from[element_at(j, c)], x_j, rest);
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
      const float x = y_[place(k)];
      const int column = k < args_.factors ? k : args_.factors + 1;
      to[column] = x;
      const __half high = __float2half_rn(x);
      args_.rows.narrow.high[narrow + column] = high;
      if (args_.rows.narrow.low == nullptr) continue;
      args_.rows.narrow.low[narrow + column] = __float2half_rn(x - __half2float(high));
    }
    if (args_.rows.residuals != nullptr) store_residual(row);
  }

  // The sum of squared errors less the sum of squared ratings (row_draw.cpp).
  __device__ __forceinline__ void store_residual(std::int32_t row) {
    const int n = args_.drawn;
    float products = 0;
    float fitted = 0;
    for (int k = lane_; k < n; k += 32) {
      const float x = y_[place(k)];
      float product = 0;
      for (int j = 0; j < n; ++j) {
        product = fmaf(__ldg(args_.rule.precision + j * n + k), y_[place(j)], product);
      }
      products = fmaf(x, sums_[k], products);
      fitted += noise_[place(k)] * noise_[place(k)] - x * product;
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

template <int kMostThreads, int kBlocks, int kAtOnce>
__global__ void __launch_bounds__(kMostThreads, kBlocks)
    draw_kernel(const __grid_constant__ DrawArgs args) {
  extern __shared__ __align__(16) float memory[];
  RowSystem<kAtOnce>(args, memory).draw();
}

using DrawKernel = void (*)(DrawArgs);

// As many thread blocks of a multiprocessor as its shared memory holds must find room in its
// registers, which bounds the blocks that a warp loads together.
struct Launch {
  DrawKernel kernel;
  int threads;
};
Launch launch_of(std::int32_t tiles) {
  if (tiles <= 2) return {draw_kernel<32, 28, 3>, 32};
  if (tiles <= 4) return {draw_kernel<32, 16, 5>, 32};
  if (tiles <= 8) return {draw_kernel<128, 7, 4>, 128};
  return {draw_kernel<256, 2, 9>, 256};
}

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    ones_kernel(const std::int64_t* offsets, std::int64_t count, float* rows, std::int64_t stride,
                std::int32_t column) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row < count && offsets[row] < offsets[row + 1]) rows[row * stride + column] = 1;
}

}  // namespace

SlotLayout SlotLayout::of(als::FusedPrecision precision, const als::FusedRule& rule) {
  SlotLayout layout;
  layout.tiles = als::fused_tiles(rule.factors);
  const int warps = als::fused_warps(layout.tiles, precision == als::FusedPrecision::fp16x2);
  const als::FusedMap map = als::fused_map(layout.tiles, warps);
  layout.threads = 32 * warps;
  layout.floats = als::fused_slot_floats(precision, rule);
  layout.rating_in_row = rule.factors <= layout.tiles * kTile - 8;
  for (int row = 0; row < layout.tiles; ++row) {
    const int of_warp = map.warp[row] * 32;
    layout.b_offset[row] = (map.slots * 8 + map.ordinal[row] * 4) * layout.threads + of_warp;
    for (int column = 0; column <= row; ++column) {
      layout.blocks[blocks_of(row) + column] = {
          (map.first_slot[row] + column) * 8 * layout.threads + of_warp,
          static_cast<std::int16_t>(row), static_cast<std::int16_t>(column)};
    }
  }
  return layout;
}

std::vector<float> in_slot(const SlotLayout& layout, const std::vector<float>& precision,
                           std::int64_t size) {
  std::vector<float> slot(layout.floats, 0.0F);
  for (int b = 0; b < blocks_of(layout.tiles); ++b) {
    const SlotLayout::Block& block = layout.blocks[b];
    for (int at = 0; at < 256; ++at) {
      const int e = at / 32;
      const int lane = at % 32;
      const int i = block.row * kTile + lane / 4 + e / 2 % 2 * 8;
      const int j = block.column * kTile + lane % 4 * 2 + e % 2 + e / 4 * 8;
      const bool inside = i < size && j < size;
      slot[block.offset + e * layout.threads + lane] =
          inside ? precision[i * size + j] : (i == j ? 1.0F : 0.0F);
    }
  }
  return slot;
}

std::size_t draw_shared_bytes(std::int32_t tiles) {
  return sizeof(float) * (static_cast<std::size_t>(blocks_of(tiles)) * kBlockFloats +
                          kTile * kTile + std::size_t{5} * tiles * kTile);
}

void launch_draw(const SlotLayout& layout, const RowColumns& columns, const DrawRule& rule,
                 const DrawnRows& rows, cudaStream_t stream) {
  if (rows.count == 0) return;
  const std::size_t shared = draw_shared_bytes(layout.tiles);
  const Launch launch = launch_of(layout.tiles);
  MF_CUDA(cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)));
  const DrawArgs args = {layout, rule, rows, columns.factors, columns.drawn(), columns.biased};
  launch.kernel<<<static_cast<unsigned>(rows.count), launch.threads, shared, stream>>>(args);
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
