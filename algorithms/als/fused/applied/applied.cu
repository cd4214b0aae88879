#include "algorithms/als/fused/applied/applied.hpp"
#include "algorithms/als/fused/applied/dual.hpp"

#include <cuda_fp16.h>

#include "algorithms/als/fused/ptx.cuh"
#include "algorithms/als/row_reg.hpp"
#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/memory.hpp"

namespace mf::als {
namespace {

constexpr int kMostThreads = 32 * kAppliedWarps;
constexpr int kAtOnce = 4;  // pairs of a group of lanes, whose sums are then found together
constexpr unsigned kAll = 0xffffffffU;

// v and t of a pair.
struct Term {
  float v, t;
};

// A lane's part of a row of fp16 words: 16 bytes, and of long rows 16 more, 16 Lanes further on.
template <int Words>
struct Packed {
  uint4 word[Words];
};

// The same of a vector: elements 8 (w Lanes + l) to 8 (w Lanes + l) + 7 of lane l of a group.
template <int Words>
struct Part {
  float e[8 * Words];
};

template <int Words>
__device__ __forceinline__ Part<Words> unpack(const Packed<Words>& row) {
  Part<Words> out;
#pragma unroll
  for (int w = 0; w < Words; ++w) {
    const uint4 words = row.word[w];
    const std::uint32_t pairs[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(&pairs[k]));
      out.e[8 * w + 2 * k] = pair.x;
      out.e[8 * w + 2 * k + 1] = pair.y;
    }
  }
  return out;
}

template <int Words>
__device__ __forceinline__ float inner(const Part<Words>& a, const Part<Words>& b) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8 * Words; ++k) sum += a.e[k] * b.e[k];
  return sum;
}

template <int Words>
__device__ __forceinline__ void add(Part<Words>& y, float a, const Part<Words>& x) {
#pragma unroll
  for (int k = 0; k < 8 * Words; ++k) y.e[k] += a * x.e[k];
}

// A group: the lanes that have a row.
template <int Lanes>
struct Group {
  static_assert(Lanes == 16 || Lanes == 32);

  // The lane with that bit keeps v1 and gives v0, its partner the other way round; both add.
  __device__ __forceinline__ static float swap_add(float v0, float v1, int bit, int lane) {
    const bool high = (lane & bit) != 0;
    return (high ? v1 : v0) + __shfl_xor_sync(kAll, high ? v0 : v1, bit);
  }
  // v[which(lane)], summed over the group.
  __device__ __forceinline__ static float sum(const float (&v)[4], int lane) {
    float s = swap_add(swap_add(v[0], v[2], Lanes / 2, lane), swap_add(v[1], v[3], Lanes / 2, lane),
                       Lanes / 4, lane);
#pragma unroll
    for (int bit = Lanes / 8; bit > 0; bit /= 2) s += __shfl_xor_sync(kAll, s, bit);
    return s;
  }
  __device__ __forceinline__ static int which(int lane) { return lane / (Lanes / 4); }
  // The value of the lanes with that `which`.
  __device__ __forceinline__ static float from(float value, int which) {
    return __shfl_sync(kAll, value, which * (Lanes / 4), Lanes);
  }
};

// Dynamic shared memory of a block, in this order; streamed rows have only `parts`.
template <int Lanes, int Words>
struct Shared {
  float4* parts;        // [2][warps][2 Words][Lanes]: each warp's part of a product
  unsigned char* rows;  // of the pairs
  Term* terms;
  std::int32_t* others;

  __device__ Shared(unsigned char* memory, int warps, int pairs, int pitch)
      : parts(reinterpret_cast<float4*>(memory)),
        rows(memory + 2 * warps * 2 * Words * Lanes * sizeof(float4)),
        terms(reinterpret_cast<Term*>(rows + static_cast<std::int64_t>(pairs) * pitch)),
        others(reinterpret_cast<std::int32_t*>(terms + pairs)) {}
};

template <int Lanes, int Words, bool Streamed>
class AppliedRow {
  static_assert(!Streamed || Lanes == 32, "a warp takes 32 pairs in turn");
  using Row = Packed<Words>;
  using Vector = Part<Words>;

 public:
  __device__ AppliedRow(const FusedSide& side, const AppliedRule& rule, int stride,
                        const FusedTask& task, const Shared<Lanes, Words>& shared)
      : side_(side),
        rule_(rule),
        shared_(shared),
        entries_(side.entries + task.begin),
        count_(task.count),
        pitch_(2 * stride),
        words_(stride / 8),
        warps_(static_cast<int>(blockDim.x / 32)),
        groups_(static_cast<int>(blockDim.x / Lanes)),
        group_(static_cast<int>(threadIdx.x / Lanes)),
        lane_(static_cast<int>(threadIdx.x % Lanes)),
        shrink_(row_reg(rule.reg, rule.reg_power, task.row_count)),
        row_(side.rows + std::int64_t{task.row} * side.rows_stride),
        narrow_(rule.narrow ? side.to.high + std::int64_t{task.row} * stride : nullptr) {}

  __device__ __forceinline__ void run() {
    Vector z = {};
    if (count_ > 0) {
      if constexpr (!Streamed) copy();
      z = load_start();
      if constexpr (!Streamed) {
        wait_copies();
        __syncthreads();
      }
      solve(z);
    }
    if (threadIdx.x < Lanes) store(z);
  }

 private:
  __device__ __forceinline__ Term term_of(const FusedEntry& entry) const {
    const float2 words = __half22float2(*reinterpret_cast<const __half2*>(&entry.rating));
    const float value = words.x + words.y;
    return rule_.equal_weights ? Term{1, value} : Term{value, value + rule_.beside};
  }
  __device__ __forceinline__ const char* row_of(std::int32_t other) const {
    return reinterpret_cast<const char*>(side_.from.high) + std::int64_t{other} * pitch_;
  }
  // The lane's w-th word of a row, and element of a vector.
  __device__ __forceinline__ int word(int w) const { return w * Lanes + lane_; }

  // The pairs, then the rows that they name: a group has a row.
  __device__ __forceinline__ void copy() {
    for (int i = static_cast<int>(threadIdx.x); i < count_; i += static_cast<int>(blockDim.x)) {
      const FusedEntry entry = entries_[i];
      shared_.others[i] = entry.other;
      shared_.terms[i] = term_of(entry);
    }
    __syncthreads();
    const std::uint32_t to = shared_address(shared_.rows);
#pragma unroll 4
    for (int i = group_; i < count_; i += groups_) {
      const char* from = row_of(shared_.others[i]);
#pragma unroll
      for (int w = 0; w < Words; ++w) {
        if (word(w) < words_) copy_16(to + i * pitch_ + word(w) * 16, from + word(w) * 16);
      }
    }
    commit_copies();
  }

  __device__ __forceinline__ Vector load_start() const {
    Vector z = {};
#pragma unroll
    for (int half = 0; half < 2 * Words; ++half) {
      const int i = 8 * word(half / 2) + half % 2 * 4;
      if (i >= side_.rows_stride) continue;
      const float4 v = *reinterpret_cast<const float4*>(row_ + i);
      z.e[4 * half] = rule_.down * v.x;
      z.e[4 * half + 1] = rule_.down * v.y;
      z.e[4 * half + 2] = rule_.down * v.z;
      z.e[4 * half + 3] = rule_.down * v.w;
    }
    return z;
  }

  __device__ __forceinline__ void store(const Vector& z) const {
#pragma unroll
    for (int half = 0; half < 2 * Words; ++half) {
      const int i = 8 * word(half / 2) + half % 2 * 4;
      if (i >= side_.rows_stride) continue;
      const float* e = z.e + 4 * half;
      *reinterpret_cast<float4*>(row_ + i) = {rule_.up * e[0], rule_.up * e[1], rule_.up * e[2],
                                              rule_.up * e[3]};
    }
    if (narrow_ == nullptr) return;
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      if (word(w) >= words_) continue;
      const float* e = z.e + 8 * w;
      __half2 pairs[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) pairs[k] = __floats2half2_rn(e[2 * k], e[2 * k + 1]);
      *reinterpret_cast<uint4*>(narrow_ + 8 * word(w)) = *reinterpret_cast<const uint4*>(pairs);
    }
  }

  // The lane's part of a row at `from`; zeros unless `real`.
  __device__ __forceinline__ Row load(const void* from, bool real) const {
    Row row;
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      row.word[w] = {0, 0, 0, 0};
      if (real && word(w) < words_) row.word[w] = static_cast<const uint4*>(from)[word(w)];
    }
    return row;
  }

  // Adds the terms of kAtOnce pairs of this group to a product; `term` belongs to the lane's pair
  // which().
  template <bool First>
  __device__ __forceinline__ void add_pairs(const Row (&rows)[kAtOnce], const Term& term,
                                            const Vector& p, Vector& sum) const {
    float dots[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) dots[j] = inner(unpack(rows[j]), p);
    const float dot = Group<Lanes>::sum(dots, lane_);
    const float factor = First ? term.t - term.v * dot : term.v * dot;
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      add(sum, Group<Lanes>::from(factor, j), unpack(rows[j]));
    }
  }

  // From shared memory. All groups take as many turns: they exchange values.
  template <bool First>
  __device__ __forceinline__ Vector sum_of_held(const Vector& p) const {
    Vector sum = {};
    for (int first = group_; first - group_ < count_; first += kAtOnce * groups_) {
      Row rows[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const int i = first + j * groups_;
        rows[j] = load(shared_.rows + i * pitch_, i < count_);
      }
      const int mine = first + Group<Lanes>::which(lane_) * groups_;
      add_pairs<First>(rows, mine < count_ ? shared_.terms[mine] : Term{0, 0}, p, sum);
    }
    return sum;
  }

  // From memory: a warp takes 32 pairs in turn, whose entries its lanes have read a turn before.
  template <bool First>
  __device__ __forceinline__ Vector sum_of_streamed(const Vector& p) const {
    Vector sum = {};
    const auto entry = [&](int i) { return i < count_ ? entries_[i] : FusedEntry{0, 0}; };
    FusedEntry next = entry(32 * group_ + lane_);
    for (int first = 32 * group_; first < count_; first += 32 * groups_) {
      const FusedEntry now = next;
      next = entry(first + 32 * groups_ + lane_);
      const int pairs = min(32, count_ - first);
      const Term own = lane_ < pairs ? term_of(now) : Term{0, 0};
#pragma unroll 1
      for (int turn = 0; turn < pairs; turn += kAtOnce) {
        Row rows[kAtOnce];
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
          rows[j] = load(row_of(__shfl_sync(kAll, now.other, turn + j)), turn + j < pairs);
        }
        const int mine = turn + Group<Lanes>::which(lane_);
        const Term term = {__shfl_sync(kAll, own.v, mine), __shfl_sync(kAll, own.t, mine)};
        add_pairs<First>(rows, term, p, sum);
      }
    }
    return sum;
  }

  // sum v theta (theta . p); First: sum (t - v theta . p) theta. In every group, whole.
  template <bool First>
  __device__ __forceinline__ Vector product(const Vector& p) {
    if constexpr (Streamed) return sum_over_warps(sum_of_streamed<First>(p));
    return sum_over_warps(sum_of_held<First>(p));
  }

  // The same in every lane with that place in its group. One barrier; the buffers alternate.
  __device__ __forceinline__ Vector sum_over_warps(Vector mine) {
    if constexpr (Lanes == 16) {
#pragma unroll
      for (float& x : mine.e) x += __shfl_xor_sync(kAll, x, 16);
    }
    constexpr int kHalves = 2 * Words;
    float4* parts = shared_.parts + buffer_ * warps_ * kHalves * Lanes;
    buffer_ = 1 - buffer_;
    if (threadIdx.x % 32 < Lanes) {
      float4* to = parts + threadIdx.x / 32 * kHalves * Lanes + lane_;
#pragma unroll
      for (int half = 0; half < kHalves; ++half) {
        const float* e = mine.e + 4 * half;
        to[half * Lanes] = {e[0], e[1], e[2], e[3]};
      }
    }
    __syncthreads();
    Vector sum = {};
    for (int w = 0; w < warps_; ++w) {
#pragma unroll
      for (int half = 0; half < kHalves; ++half) {
        const float4 part = parts[(w * kHalves + half) * Lanes + lane_];
        float* e = sum.e + 4 * half;
        e[0] += part.x;
        e[1] += part.y;
        e[2] += part.z;
        e[3] += part.w;
      }
    }
    return sum;
  }

  // The recurrence of cg.cuh: one set of sums a step.
  __device__ __forceinline__ void solve(Vector& z) {
    Vector r = product<true>(z);
    add(r, -shrink_, z);
    Vector p = r;
    const float least = rule_.tolerance > 0 ? rule_.tolerance * rule_.tolerance : -INFINITY;
    for (int step = 0; step < rule_.steps; ++step) {
      Vector ap = product<false>(p);
      add(ap, shrink_, p);
      const float dots[4] = {inner(p, ap), inner(r, ap), inner(ap, ap), inner(p, r)};
      const float own = Group<Lanes>::sum(dots, lane_);
      const float p_ap = Group<Lanes>::from(own, 0);
      const float r_ap = Group<Lanes>::from(own, 1);
      const float ap_ap = Group<Lanes>::from(own, 2);
      const float p_r = Group<Lanes>::from(own, 3);
      // NaN stays, so that the run ends as diverged.
      if (p_ap <= 0 || p_r <= 0) break;
      const float alpha = p_r / p_ap;
      const float beta = (alpha * ap_ap - r_ap) / p_ap;
      add(z, alpha, p);
      add(r, -alpha, ap);
      if (!(p_r + alpha * (alpha * ap_ap - 2 * r_ap) >= least)) break;
#pragma unroll
      for (int k = 0; k < 8 * Words; ++k) p.e[k] = r.e[k] + beta * p.e[k];
    }
  }

  const FusedSide& side_;
  const AppliedRule& rule_;
  const Shared<Lanes, Words>& shared_;
  const FusedEntry* entries_;
  int count_;
  int pitch_;  // bytes of a row
  int words_;  // 16 bytes each
  int warps_, groups_;
  int group_, lane_;
  int buffer_ = 0;
  float shrink_;
  float* row_;
  __half* narrow_;  // or null
};

template <int Lanes, int Words, bool Streamed>
__global__ void __launch_bounds__(kMostThreads, 1)
    applied_kernel(const __grid_constant__ FusedSide side, const __grid_constant__ AppliedRule rule,
                   int stride, int pairs) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) unsigned char memory[];
  const FusedTask task = side.tasks[blockIdx.x];
  const Shared<Lanes, Words> shared(memory, static_cast<int>(blockDim.x / 32), pairs, 2 * stride);
  AppliedRow<Lanes, Words, Streamed>(side, rule, stride, task, shared).run();
#else
  __trap();
#endif
}

template <int Lanes, int Words, bool Streamed = false>
void launch(const AppliedRule& rule, FusedSide side, const AppliedLaunch& what,
            cudaStream_t stream) {
  const auto kernel = applied_kernel<Lanes, Words, Streamed>;
  const auto bytes = static_cast<int>(applied_bytes(rule.factors, what.shape.warps, what.pairs));
  MF_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  side.tasks += what.first;
  kernel<<<cuda::blocks_for(what.count, 1), 32 * what.shape.warps, bytes, stream>>>(
      side, rule, static_cast<int>(fused_stride(rule.factors)), static_cast<int>(what.pairs));
  MF_CUDA_LAUNCHED("applied_kernel");
}

}  // namespace

AppliedLimits applied_limits() {
  int device = 0;
  int of_multiprocessor = 0;
  int of_block = 0;
  MF_CUDA(cudaGetDevice(&device));
  MF_CUDA(cudaDeviceGetAttribute(&of_multiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                 device));
  MF_CUDA(cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return {of_multiprocessor, of_block};
}

namespace {

// A thread a band.
__global__ void band_kernel(const FusedTask* tasks, std::int64_t count, std::int64_t applied_up_to,
                            const AppliedCapacities most, AppliedBands* bands) {
  const auto number = static_cast<int>(threadIdx.x);
  const std::int64_t formed = count_formed(tasks, count, applied_up_to);
  if (number == 0) bands->formed = formed;
  bands->band[number] = find_band(tasks, formed, count, most, number);
}

}  // namespace

AppliedTasks find_applied(const FusedTask* tasks, std::int64_t count, std::int64_t applied_up_to,
                          const AppliedCapacities& most, cudaStream_t stream) {
  if (count == 0) return {};
  cuda::StreamBuffer<AppliedBands> device(1, stream);
  band_kernel<<<1, kAppliedShapes, 0, stream>>>(tasks, count, applied_up_to, most, device.data());
  MF_CUDA_LAUNCHED("applied bands");
  AppliedBands bands;
  cuda::download(View<AppliedBands>(&bands, 1), device.data(), stream);
  return {bands.formed, plan_applied(bands, count)};
}

void launch_applied(const AppliedRule& rule, const FusedSide& side, const AppliedPlan& plan,
                    cudaStream_t stream) {
  for (const AppliedLaunch& what : plan) {
    if (what.shape.tiles > 0) {
      launch_dual(rule, side, what, stream);
    } else if (what.streamed) {  // of more than kMostFormedFactors
      launch<32, 2, true>(rule, side, what, stream);
    } else if (applied_words(rule.factors) == 2) {
      launch<32, 2>(rule, side, what, stream);
    } else if (applied_lanes(rule.factors) == 32) {
      launch<32, 1>(rule, side, what, stream);
    } else {
      launch<16, 1>(rule, side, what, stream);
    }
  }
}

}  // namespace mf::als
