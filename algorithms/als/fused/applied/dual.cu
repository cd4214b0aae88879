#include "algorithms/als/fused/applied/dual.hpp"

#include <cuda_fp16.h>

#include <utility>

#include "algorithms/als/fused/applied/dual_cg.hpp"
#include "algorithms/als/fused/cg.cuh"
#include "algorithms/als/fused/ptx.cuh"
#include "algorithms/als/row_reg.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::als {
namespace {

// A vector of factors, Quads quads a lane, as FusedVector holds pairs.
template <int Quads>
struct Factors {
  static constexpr int kQuads = Quads;
  static constexpr int kVector = 128 * Quads;
  static constexpr int kPlane = kVector / 2 + 8;
};

// Bytes from one row in shared memory to the next: an odd number of sectors, so that ldmatrix finds
// eight rows in eight places, four of them with their sectors' halves exchanged.
MF_HD constexpr int row_pitch(int blocks) { return 32 * (blocks | 1); }

// More warps a row if shared memory holds few rows.
constexpr int dual_warps(int tiles, int quads) {
  return quads == 1 || tiles <= 1 ? 1 : tiles <= 4 ? 2 : 4;
}
template <int Tiles, int Quads>
struct DualShape : FusedShape<Tiles, false, false> {
  static constexpr int kWarps = dual_warps(Tiles, Quads);
  static constexpr FusedMap kMap = fused_map(Tiles, kWarps);
  static constexpr int kSlots = kMap.slots;
};

template <int Tiles, int Quads>
struct DualShared {
  using Shape = DualShape<Tiles, Quads>;
  static constexpr int kPairs = Tiles * kFusedTile;
  static constexpr int kWarps = Shape::kWarps;
  // Operands, each warp its own: of the pairs, of the factors.
  alignas(16) float p[kWarps][2 * Shape::kPlane];
  alignas(16) std::uint32_t factors[kWarps][2 * Factors<Quads>::kPlane];
  alignas(16) float parts[2][kWarps][Shape::kVector];  // of a product with K
  alignas(16) float factor_sums[Factors<Quads>::kVector];
  alignas(16) float pair_sums[kPairs];
  alignas(16) float v[kPairs];
  alignas(16) float t[kPairs];
  alignas(16) std::int32_t others[kPairs];
  float largest[kWarps];
};

// Offset of the rows in a block's shared memory.
template <int Tiles, int Quads>
MF_HD constexpr int rows_at() {
  return (static_cast<int>(sizeof(DualShared<Tiles, Quads>)) + 127) / 128 * 128;
}

template <int Tiles, int Quads>
class DualRow {
  using Shared = DualShared<Tiles, Quads>;
  using Shape = typename Shared::Shape;
  using PairVector = FusedVector<Shape>;
  using FactorVector = FusedVector<Factors<Quads>>;
  using Fragment = std::uint32_t[4];
  static constexpr int kPairs = Shared::kPairs;
  static constexpr int kWarps = Shared::kWarps;
  static_assert(Shape::kQuads == 1);

 public:
  __device__ DualRow(const FusedSide& side, const AppliedRule& rule, const FusedTask& task,
                     Shared& shared, unsigned char* rows, int stride)
      : side_(side),
        rule_(rule),
        task_(task),
        shared_(shared),
        rows_(shared_address(rows)),
        lane_(static_cast<int>(threadIdx.x % 32)),
        warp_(static_cast<int>(threadIdx.x / 32)),
        blocks_((rule.factors + kFusedTile - 1) / kFusedTile),
        pitch_(row_pitch(blocks_)),
        stride_(stride),
        shrink_(row_reg(rule.reg, rule.reg_power, task.row_count)),
        row_(side.rows + std::int64_t{task.row} * side.rows_stride) {}

  __device__ __forceinline__ void run() {
    FactorVector x = {};
    if (task_.count > 0) {
      copy();
      x = load_start();
      wait_copies();
      sync();
      solve(x);
    }
    if (warp_ == 0) store(x);
  }

 private:
  __device__ __forceinline__ static void sync() {
    if constexpr (kWarps == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  // The first element of the lane's quad k of a vector.
  __device__ __forceinline__ int element(int k) const { return 4 * (lane_ + 32 * k); }

  // ---- reads and writes ----

  // The pairs, then the rows that they name; rows past the last are zero.
  __device__ __forceinline__ void copy() {
    if constexpr (kWarps > 1) {  // elements without a part of this warp stay zero
      float* parts = &shared_.parts[0][0][0];
      for (int i = static_cast<int>(threadIdx.x); i < 2 * kWarps * Shape::kVector; i += 32 * kWarps)
        parts[i] = 0;
    }
    const FusedEntry* entries = side_.entries + task_.begin;
    for (int i = static_cast<int>(threadIdx.x); i < kPairs; i += 32 * kWarps) {
      const FusedEntry entry = i < task_.count ? entries[i] : FusedEntry{0, 0};
      const float2 words = __half22float2(*reinterpret_cast<const __half2*>(&entry.rating));
      const float value = words.x + words.y;
      const bool real = i < task_.count;
      shared_.others[i] = entry.other;
      shared_.v[i] = !real ? 0.0F : rule_.equal_weights ? 1.0F : value;
      shared_.t[i] = !real ? 0.0F : rule_.equal_weights ? value : value + rule_.beside;
    }
    sync();
    constexpr int kLanes = 16 * Quads;
    const int word = static_cast<int>(threadIdx.x) % kLanes;
    if (word >= 2 * blocks_) return;
    const char* from = reinterpret_cast<const char*>(side_.from.high) + word * 16;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x) / kLanes; i < kPairs; i += 32 * kWarps / kLanes) {
      const std::uint32_t to = rows_ + i * pitch_ + (word ^ i / 4 % 2) * 16;
      if (i < task_.count) {
        copy_16(to, from + std::int64_t{shared_.others[i]} * stride_ * 2);
      } else {
        asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(0) : "memory");
      }
    }
    commit_copies();
  }

  __device__ __forceinline__ FactorVector load_start() const {
    FactorVector x = {};
#pragma unroll
    for (int k = 0; k < Quads; ++k) {
      if (element(k) < side_.rows_stride) {
        x.v[k] = rule_.down * *reinterpret_cast<const float4*>(row_ + element(k));
      }
    }
    return x;
  }

  __device__ __forceinline__ void store(const FactorVector& x) const {
#pragma unroll
    for (int k = 0; k < Quads; ++k) {
      const int i = element(k);
      const float4 v = x.v[k];
      if (i < side_.rows_stride) *reinterpret_cast<float4*>(row_ + i) = rule_.up * v;
      if (!rule_.narrow || i >= stride_) continue;
      const __half2 pairs[2] = {__floats2half2_rn(v.x, v.y), __floats2half2_rn(v.z, v.w)};
      *reinterpret_cast<uint2*>(side_.to.high + std::int64_t{task_.row} * stride_ + i) =
          *reinterpret_cast<const uint2*>(pairs);
    }
  }

  // ---- products with the rows ----

  // The address of this lane for rows 16 j to 16 j + 15 and 16 factors, as a left operand pairs by
  // factors; `transposed`: factors by pairs.
  __device__ __forceinline__ std::uint32_t operand_from(bool transposed) const {
    const int low = lane_ / 8 % 2;
    const int high = lane_ / 16;
    const int row = lane_ % 8 + (transposed ? high : low) * 8;
    return rows_ + row * pitch_ + ((transposed ? low : high) ^ row / 4 % 2) * 16;
  }
  __device__ __forceinline__ std::uint32_t block_offset(int j, int k) const {
    return 16 * j * pitch_ + k * 32;
  }
  // Column g of a right operand: the high words, or the low ones, of elements 16 k and on.
  template <int Plane>
  __device__ __forceinline__ uint2 operand(const std::uint32_t* words, int k) const {
    return *reinterpret_cast<const uint2*>(words + lane_ / 4 % 2 * Plane + 8 * k + lane_ % 4 * 2);
  }
  __device__ __forceinline__ std::uint32_t* pair_words() const {
    return reinterpret_cast<std::uint32_t*>(shared_.p[warp_]);
  }

  // Writes s * x as an operand, s a power of two: results with it count 1 / s times.
  template <int Plane, class Of>
  __device__ __forceinline__ float store_operand(std::uint32_t* words, const FusedVector<Of>& x,
                                                 float xx) const {
    const float down = inverse_root(xx);
    __syncwarp();  // the warp has read the old values
    store_halves<Plane>(words, lane_, x, down);
    __syncwarp();
    return inverse_power(down);
  }

  // K = Theta Theta^T, and Theta x in the place of b; x is stored as an operand.
  __device__ __forceinline__ void form(Accumulators<Shape>& sums) const {
    const std::uint32_t from = operand_from(false);
    with_role<kWarps>(warp_, [&](auto role) {
      constexpr int kColumns = Shape::kMap.columns[role];
      for (int k = 0; k < blocks_; ++k) {
        const uint2 x = operand<Factors<Quads>::kPlane>(shared_.factors[warp_], k);
        Fragment rows[kColumns];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) load_rows(rows[j], from + block_offset(j, k));
        for_rows<Shape, role>(
            [&](auto row) { multiply_add(sums.b[Shape::kMap.ordinal[row]], rows[row], x.x, x.y); });
        for_blocks<Shape, role>([&](auto row, auto column, auto slot) {
          multiply_add(sums.a[slot], rows[row], rows[column][0], rows[column][2]);
          multiply_add(sums.a[slot] + 4, rows[row], rows[column][1], rows[column][3]);
        });
      }
    });
  }

  // Theta x, of a stored operand, as form() leaves it.
  __device__ __forceinline__ void multiply(Accumulators<Shape>& sums) const {
    const std::uint32_t from = operand_from(false);
    with_role<kWarps>(warp_, [&](auto role) {
#pragma unroll 2
      for (int k = 0; k < blocks_; ++k) {
        const uint2 x = operand<Factors<Quads>::kPlane>(shared_.factors[warp_], k);
        for_rows<Shape, role>([&](auto row) {
          Fragment rows;
          load_rows(rows, from + block_offset(row, k));
          multiply_add(sums.b[Shape::kMap.ordinal[row]], rows, x.x, x.y);
        });
      }
    });
  }
  __device__ __forceinline__ PairVector pair_vector(const float* from) const {
    PairVector y = {};
    if (element(0) < kPairs) y.v[0] = *reinterpret_cast<const float4*>(from + element(0));
    return y;
  }
  __device__ __forceinline__ PairVector share(const Accumulators<Shape>& sums, float up) {
    sync();  // pair_sums has been read
    with_role<kWarps>(warp_, [&](auto role) {
      for_rows<Shape, role>([&](auto row) {
        const float* b = sums.b[Shape::kMap.ordinal[row]];
        float* to = shared_.pair_sums + row * kFusedTile + lane_ / 4;
        if (lane_ % 4 != 0) return;
        to[0] = b[0] + b[1];
        to[8] = b[2] + b[3];
      });
    });
    sync();
    PairVector y = pair_vector(shared_.pair_sums);
    scale(y, up);
    return y;
  }

  // Theta^T a. Four blocks of factors at a time; those past the last are of no meaning.
  __device__ __forceinline__ FactorVector multiply_transposed(const PairVector& a) {
    const float up = store_operand<Shape::kPlane>(pair_words(), a, warp_sum(sum_of(a, a)));
    uint2 p[Tiles];
#pragma unroll
    for (int j = 0; j < Tiles; ++j) p[j] = operand<Shape::kPlane>(pair_words(), j);
    const std::uint32_t from = operand_from(true);
    const int t = lane_ % 4;
    for (int first = 4 * warp_; first < blocks_; first += 4 * kWarps) {
      float sums[4][4] = {};
#pragma unroll
      for (int j = 0; j < Tiles; ++j) {
#pragma unroll
        for (int u = 0; u < 4; ++u) {
          Fragment rows;
          load_transposed(rows, from + block_offset(j, min(first + u, blocks_ - 1)));
          multiply_add(sums[u], rows, p[j].x, p[j].y);
        }
      }
      float* to = shared_.factor_sums + (first + t) * kFusedTile + lane_ / 4;
      float upper = 0;
      float lower = 0;
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        if (t != u) continue;
        upper = sums[u][0] + sums[u][1];
        lower = sums[u][2] + sums[u][3];
      }
      to[0] = upper;
      to[8] = lower;
    }
    sync();
    FactorVector y = {};
#pragma unroll
    for (int k = 0; k < Quads; ++k) {
      if (element(k) >= blocks_ * kFusedTile) continue;
      y.v[k] = up * *reinterpret_cast<const float4*>(shared_.factor_sums + element(k));
    }
    sync();  // factor_sums has been read
    return y;
  }

  // ---- the solver ----

  __device__ __forceinline__ float largest_of(const Accumulators<Shape>& sums) {
    float largest = 0;
    with_role<kWarps>(warp_, [&](auto role) {
      for_rows<Shape, role>([&](auto row) {
        const float* a = sums.a[Shape::kMap.first_slot[row] + row];
#pragma unroll
        for (int i = 0; i < 8; ++i) largest = fmaxf(largest, a[i]);
      });
    });
    largest = __uint_as_float(warp_largest(__float_as_uint(largest)));
    if constexpr (kWarps == 1) return largest;
    if (lane_ == 0) shared_.largest[warp_] = largest;
    sync();
#pragma unroll
    for (int w = 0; w < kWarps; ++w) largest = fmaxf(largest, shared_.largest[w]);
    return largest;
  }

  __device__ __forceinline__ static PairVector times(const PairVector& a, const PairVector& b) {
    return {{{a.v[0].x * b.v[0].x, a.v[0].y * b.v[0].y, a.v[0].z * b.v[0].z, a.v[0].w * b.v[0].w}}};
  }

  // K w, stored with that square of its norm.
  __device__ __forceinline__ PairVector product(const NarrowMatrix<Shape>& matrix,
                                                const PairVector& w, float ww) {
    const float up = matrix.unit() * store_operand<Shape::kPlane>(pair_words(), w, ww);
    matrix.multiply(shared_, buffer_, warp_, lane_);
    sync();
    PairVector y = {};
#pragma unroll
    for (int k = 0; k < kWarps; ++k) add(y, up, pair_vector(shared_.parts[buffer_][k]));
    buffer_ = 1 - buffer_;
    return y;
  }

  __device__ __forceinline__ void solve(FactorVector& x) {
    constexpr int kPlane = Factors<Quads>::kPlane;
    DualStart<Space> start;
    const PairVector v = pair_vector(shared_.v);
    float up = store_operand<kPlane>(shared_.factors[warp_], x, warp_sum(sum_of(x, x)));
    Accumulators<Shape> sums = {};
    form(sums);
    start.g = share(sums, up);
    start.s = times(v, start.g);
    scale(start.s, -1.0F);
    add(start.s, 1.0F, pair_vector(shared_.t));
    const float largest = largest_of(sums);
    const NarrowMatrix<Shape> matrix(sums, largest, warp_);
    FactorVector r = multiply_transposed(start.s);
    add(r, -shrink_, x);
    start.rr = warp_sum(sum_of(r, r));
    up = store_operand<kPlane>(shared_.factors[warp_], r, start.rr);
    Accumulators<Shape> of_r = {};
    multiply(of_r);
    start.d = share(of_r, up);
    const float most_v = largest_element(v);
    Space space = {*this, matrix, v, largest * kPairs * most_v * most_v};
    const auto found = solve_dual(space, start, {shrink_, rule_.steps, rule_.tolerance});
    add(x, found.b, r);
    add(x, 1.0F, multiply_transposed(found.a));
  }

  // Weights are not negative.
  __device__ __forceinline__ static float largest_element(const PairVector& v) {
    const float4 e = v.v[0];
    const float largest = fmaxf(fmaxf(e.x, e.y), fmaxf(e.z, e.w));
    return __uint_as_float(warp_largest(__float_as_uint(largest)));
  }

  // The space of dual_cg.hpp. Every warp has the whole vectors.
  struct Space {
    using Number = float;
    using Vector = PairVector;
    static constexpr float kLeastInverted = als::kLeastInverted;

    DualRow& row;
    const NarrowMatrix<Shape>& matrix;
    const PairVector& v;
    float most;  // no eigenvalue of K is larger than its trace

    __device__ __forceinline__ Vector weigh(const Vector& g) const { return times(v, g); }
    __device__ __forceinline__ Vector product(const Vector& w, float ww) {
      return row.product(matrix, w, ww);
    }
    __device__ __forceinline__ static float sum(const Vector& x, const Vector& y) {
      return warp_sum(sum_of(x, y));
    }
    __device__ __forceinline__ float4 sums(const Vector& w, const Vector& p, const Vector& r,
                                           const Vector& h, const Vector& u) const {
      return warp_sums({sum_of(w, p), sum_of(w, r), sum_of(w, h), sum_of(w, u)}, row.lane_);
    }
    __device__ __forceinline__ static float inverse(float x) { return als::inverse(x); }
  };

  const FusedSide& side_;
  const AppliedRule& rule_;
  const FusedTask& task_;
  Shared& shared_;
  std::uint32_t rows_;
  int lane_, warp_;
  int blocks_;  // of 16 factors
  int pitch_;
  int stride_;  // of rows in device memory, in words
  int buffer_ = 0;
  float shrink_;
  float* row_;
};

// Thread blocks whose registers a multiprocessor must hold: 16 or 12 warps.
constexpr int dual_blocks(int tiles, int quads) {
  return (tiles <= 2 ? 16 : 12) / dual_warps(tiles, quads);
}

template <int Tiles, int Quads>
__global__ void __launch_bounds__(32 * dual_warps(Tiles, Quads), dual_blocks(Tiles, Quads))
    dual_kernel(const __grid_constant__ FusedSide side, const __grid_constant__ AppliedRule rule,
                int stride) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) unsigned char memory[];
  using Shared = DualShared<Tiles, Quads>;
  const FusedTask task = side.tasks[blockIdx.x];
  DualRow<Tiles, Quads>(side, rule, task, *reinterpret_cast<Shared*>(memory),
                        memory + rows_at<Tiles, Quads>(), stride)
      .run();
#else
  __trap();
#endif
}

template <int Tiles, int Quads>
constexpr int dual_bytes(int blocks) {
  return rows_at<Tiles, Quads>() + Tiles * kFusedTile * row_pitch(blocks);
}

template <int Tiles, int Quads>
void launch(const AppliedRule& rule, const FusedSide& side, std::int64_t count,
            cudaStream_t stream) {
  // Every device of compute capability 8.0 or more gives a block as much.
  static_assert(dual_bytes<Tiles, Quads>(8 * Quads) <= 99 * 1024);
  const auto kernel = dual_kernel<Tiles, Quads>;
  const int bytes = dual_bytes<Tiles, Quads>((rule.factors + kFusedTile - 1) / kFusedTile);
  MF_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  kernel<<<cuda::blocks_for(count, 1), 32 * dual_warps(Tiles, Quads), bytes, stream>>>(
      side, rule, static_cast<int>(fused_stride(rule.factors)));
  MF_CUDA_LAUNCHED("dual_kernel");
}

// Rows of more than 64 pairs have more than 128 factors: longest_dual().
template <int Tiles>
void launch_tiles(const AppliedRule& rule, const FusedSide& side, std::int64_t count,
                  cudaStream_t stream) {
  if (rule.factors > 128) {
    launch<Tiles, 2>(rule, side, count, stream);
  } else if constexpr (Tiles * kFusedTile <= longest_dual(128)) {
    launch<Tiles, 1>(rule, side, count, stream);
  }
}

template <int... Shapes>
void launch_shape(const AppliedRule& rule, const FusedSide& side, const AppliedLaunch& what,
                  cudaStream_t stream, std::integer_sequence<int, Shapes...>) {
  const auto launch_one = [&](auto shape) {
    constexpr int kTiles = kAppliedShape[shape].tiles;
    if constexpr (kTiles > 0) {
      if (what.shape.tiles == kTiles) launch_tiles<kTiles>(rule, side, what.count, stream);
    }
  };
  (launch_one(std::integral_constant<int, Shapes>()), ...);
}

}  // namespace

void launch_dual(const AppliedRule& rule, const FusedSide& side, const AppliedLaunch& what,
                 cudaStream_t stream) {
  FusedSide rows = side;
  rows.tasks += what.first;
  launch_shape(rule, rows, what, stream, std::make_integer_sequence<int, kAppliedShapes>());
}

}  // namespace mf::als
