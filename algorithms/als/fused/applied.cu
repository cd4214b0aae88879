#include "algorithms/als/fused/applied.hpp"

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

// Eight elements of a vector: 8 l to 8 l + 7 of lane l of a group.
struct Eight {
  float e[8];
};

__device__ __forceinline__ Eight unpack(uint4 words) {
  Eight out;
  const std::uint32_t pairs[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(&pairs[k]));
    out.e[2 * k] = pair.x;
    out.e[2 * k + 1] = pair.y;
  }
  return out;
}

__device__ __forceinline__ float inner(const Eight& a, const Eight& b) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += a.e[k] * b.e[k];
  return sum;
}

__device__ __forceinline__ void add(Eight& y, float a, const Eight& x) {
#pragma unroll
  for (int k = 0; k < 8; ++k) y.e[k] += a * x.e[k];
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
  // What the lanes with that `which` have.
  __device__ __forceinline__ static float from(float value, int which) {
    return __shfl_sync(kAll, value, which * (Lanes / 4), Lanes);
  }
};

// Dynamic shared memory of a block, in this order.
template <int Lanes>
struct Shared {
  float4* parts;        // [2][warps][2][Lanes]: each warp's part of a product
  unsigned char* rows;  // of the pairs
  Term* terms;
  std::int32_t* others;

  __device__ Shared(unsigned char* memory, int warps, int pairs, int pitch)
      : parts(reinterpret_cast<float4*>(memory)),
        rows(memory + 2 * warps * 2 * Lanes * sizeof(float4)),
        terms(reinterpret_cast<Term*>(rows + static_cast<std::int64_t>(pairs) * pitch)),
        others(reinterpret_cast<std::int32_t*>(terms + pairs)) {}
};

template <int Lanes>
class AppliedRow {
 public:
  __device__ AppliedRow(const FusedSide& side, const AppliedRule& rule, int stride,
                        const FusedTask& task, const Shared<Lanes>& shared)
      : side_(side),
        rule_(rule),
        shared_(shared),
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

  __device__ __forceinline__ void run(std::int64_t begin) {
    Eight z = {};
    if (count_ > 0) {
      copy(begin);
      z = load_start();
      wait_copies();
      __syncthreads();
      solve(z);
    }
    if (threadIdx.x < Lanes) store(z);
  }

 private:
  // The pairs, then the rows that they name: a group has a row, 16 bytes a lane.
  __device__ __forceinline__ void copy(std::int64_t begin) {
    for (int i = static_cast<int>(threadIdx.x); i < count_; i += static_cast<int>(blockDim.x)) {
      const FusedEntry entry = side_.entries[begin + i];
      const float2 words = __half22float2(*reinterpret_cast<const __half2*>(&entry.rating));
      const float value = words.x + words.y;
      shared_.others[i] = entry.other;
      shared_.terms[i] = rule_.equal_weights ? Term{1, value} : Term{value, value + rule_.beside};
    }
    __syncthreads();
    if (lane_ < words_) {
      const char* from = reinterpret_cast<const char*>(side_.from.high) + lane_ * 16;
      const std::uint32_t to = shared_address(shared_.rows) + lane_ * 16;
#pragma unroll 4
      for (int i = group_; i < count_; i += groups_) {
        copy_16(to + i * pitch_, from + std::int64_t{shared_.others[i]} * pitch_);
      }
    }
    commit_copies();
  }

  __device__ __forceinline__ Eight load_start() const {
    Eight z = {};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = 8 * lane_ + 4 * half;
      if (i >= side_.rows_stride) continue;
      const float4 v = *reinterpret_cast<const float4*>(row_ + i);
      z.e[4 * half] = rule_.down * v.x;
      z.e[4 * half + 1] = rule_.down * v.y;
      z.e[4 * half + 2] = rule_.down * v.z;
      z.e[4 * half + 3] = rule_.down * v.w;
    }
    return z;
  }

  __device__ __forceinline__ void store(const Eight& z) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = 8 * lane_ + 4 * half;
      if (i >= side_.rows_stride) continue;
      const float* e = z.e + 4 * half;
      *reinterpret_cast<float4*>(row_ + i) = {rule_.up * e[0], rule_.up * e[1], rule_.up * e[2],
                                              rule_.up * e[3]};
    }
    if (narrow_ == nullptr || lane_ >= words_) return;
    __half2 pairs[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) pairs[k] = __floats2half2_rn(z.e[2 * k], z.e[2 * k + 1]);
    *reinterpret_cast<uint4*>(narrow_ + 8 * lane_) = *reinterpret_cast<const uint4*>(pairs);
  }

  // sum v theta (theta . p); First: sum (t - v theta . p) theta. In every group, whole.
  template <bool First>
  __device__ __forceinline__ Eight product(const Eight& p) {
    Eight sum = {};
    // All groups take as many turns: they exchange values.
    for (int first = group_; first - group_ < count_; first += kAtOnce * groups_) {
      uint4 words[kAtOnce];
      float dots[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const int i = first + j * groups_;
        words[j] = {0, 0, 0, 0};
        if (i < count_ && lane_ < words_) {
          words[j] = *reinterpret_cast<const uint4*>(shared_.rows + i * pitch_ + lane_ * 16);
        }
        dots[j] = inner(unpack(words[j]), p);
      }
      const float dot = Group<Lanes>::sum(dots, lane_);
      const int mine = first + Group<Lanes>::which(lane_) * groups_;
      const Term term = mine < count_ ? shared_.terms[mine] : Term{0, 0};
      const float factor = First ? term.t - term.v * dot : term.v * dot;
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        add(sum, Group<Lanes>::from(factor, j), unpack(words[j]));
      }
    }
    return sum_over_warps(sum);
  }

  // The same in every lane with that place in its group. One barrier; the buffers alternate.
  __device__ __forceinline__ Eight sum_over_warps(Eight mine) {
    if constexpr (Lanes == 16) {
#pragma unroll
      for (float& x : mine.e) x += __shfl_xor_sync(kAll, x, 16);
    }
    float4* parts = shared_.parts + buffer_ * warps_ * 2 * Lanes;
    buffer_ = 1 - buffer_;
    if (threadIdx.x % 32 < Lanes) {
      float4* to = parts + threadIdx.x / 32 * 2 * Lanes + lane_;
      to[0] = {mine.e[0], mine.e[1], mine.e[2], mine.e[3]};
      to[Lanes] = {mine.e[4], mine.e[5], mine.e[6], mine.e[7]};
    }
    __syncthreads();
    Eight sum = {};
    for (int w = 0; w < warps_; ++w) {
      const float4 low = parts[w * 2 * Lanes + lane_];
      const float4 high = parts[w * 2 * Lanes + Lanes + lane_];
      const Eight part = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
      add(sum, 1, part);
    }
    return sum;
  }

  // The recurrence of cg.cuh: one set of sums a step.
  __device__ __forceinline__ void solve(Eight& z) {
    Eight r = product<true>(z);
    add(r, -shrink_, z);
    Eight p = r;
    const float least = rule_.tolerance > 0 ? rule_.tolerance * rule_.tolerance : -INFINITY;
    for (int step = 0; step < rule_.steps; ++step) {
      Eight ap = product<false>(p);
      add(ap, shrink_, p);
      const float dots[4] = {inner(p, ap), inner(r, ap), inner(ap, ap), inner(p, r)};
      const float own = Group<Lanes>::sum(dots, lane_);
      const float p_ap = Group<Lanes>::from(own, 0);
      const float r_ap = Group<Lanes>::from(own, 1);
      const float ap_ap = Group<Lanes>::from(own, 2);
      const float p_r = Group<Lanes>::from(own, 3);
      // What is not a number stays, so that the run ends as diverged.
      if (p_ap <= 0 || p_r <= 0) break;
      const float alpha = p_r / p_ap;
      const float beta = (alpha * ap_ap - r_ap) / p_ap;
      add(z, alpha, p);
      add(r, -alpha, ap);
      if (!(p_r + alpha * (alpha * ap_ap - 2 * r_ap) >= least)) break;
#pragma unroll
      for (int k = 0; k < 8; ++k) p.e[k] = r.e[k] + beta * p.e[k];
    }
  }

  const FusedSide& side_;
  const AppliedRule& rule_;
  const Shared<Lanes>& shared_;
  int count_;
  int pitch_;  // bytes of a row
  int words_;  // lanes that have a part of it
  int warps_, groups_;
  int group_, lane_;
  int buffer_ = 0;
  float shrink_;
  float* row_;
  __half* narrow_;  // or null
};

template <int Lanes>
__global__ void __launch_bounds__(kMostThreads, 1)
    applied_kernel(const __grid_constant__ FusedSide side, const __grid_constant__ AppliedRule rule,
                   int stride, int pairs) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) unsigned char memory[];
  const FusedTask task = side.tasks[blockIdx.x];
  const Shared<Lanes> shared(memory, static_cast<int>(blockDim.x / 32), pairs, 2 * stride);
  AppliedRow<Lanes>(side, rule, stride, task, shared).run(task.begin);
#else
  __trap();
#endif
}

template <int Lanes>
void launch(const AppliedRule& rule, FusedSide side, const AppliedLaunch& what,
            cudaStream_t stream) {
  const auto kernel = applied_kernel<Lanes>;
  const auto bytes = static_cast<int>(applied_bytes(rule.factors, what.warps, what.pairs));
  MF_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  side.tasks += what.first;
  kernel<<<cuda::blocks_for(what.count, 1), 32 * what.warps, bytes, stream>>>(
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
                          const AppliedLimits& limits, int factors, cudaStream_t stream) {
  if (count == 0) return {};
  cuda::StreamBuffer<AppliedBands> device(1, stream);
  band_kernel<<<1, kAppliedShapes, 0, stream>>>(tasks, count, applied_up_to,
                                                applied_capacities(limits, factors), device.data());
  MF_CUDA_LAUNCHED("applied bands");
  AppliedBands bands;
  cuda::download(View<AppliedBands>(&bands, 1), device.data(), stream);
  return {bands.formed, plan_applied(bands, count)};
}

void launch_applied(const AppliedRule& rule, const FusedSide& side, const AppliedPlan& plan,
                    cudaStream_t stream) {
  for (const AppliedLaunch& what : plan) {
    applied_lanes(rule.factors) == 16 ? launch<16>(rule, side, what, stream)
                                      : launch<32>(rule, side, what, stream);
  }
}

}  // namespace mf::als
