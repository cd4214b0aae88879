// An iteration: every user u with ratings is updated by one of its ratings (u, i), drawn at random.
//
//   e    = r - (mu + b_u + c_i + p_u . q_i)
//   p_u += rate (e q_i - reg_p p_u)      q_i += rate (e p_u - reg_q q_i)
//   b_u += rate (e - reg_b b_u)          c_i += rate (e - reg_c c_i)        all with old values
//
// thread_kernel, the paper's: a thread a user, the factors one after another in words of four.
// warp_kernel, ours: a warp takes `users_per_warp` users. Its lanes draw their ratings together,
// one lane a user, so that offsets and states are read coalesced and the latencies of the ratings
// overlap; then groups of kLanes lanes update one user each, lanes over factors. The rows of kAhead
// users a group are loaded before the first is computed.
//
// An update takes 10 f + 13 FLOPs. It reads and writes 4 (f + 1) bytes of the user's side and as
// many of the item's, and reads an offset and a rating, 8 bytes each at a random place; with
// cuRAND, 48 bytes of state are read and written. Rows of Q come from the second-level cache if Q
// fits it. NOTES.md has the sums for Netflix.
#include <cuda_runtime.h>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/row_words.cuh"
#include "algorithms/cu2rec/turn.cuh"

namespace mf::cu2rec {
namespace {

constexpr unsigned kFullWarp = 0xffffffffU;

__constant__ sgd::Step<float> step;

template <ItemRule kRule>
__global__ void __launch_bounds__(1024)
    thread_kernel(const Arrays a, const IterationSource source) {
  thread_turn<kRule>(a, source, step);
}

// A row in the registers of kLanes lanes: word w of lane l is word w * kLanes + l of the row. Not
// RowShare of core, whose loads pass the first-level cache by: here a launch boundary lies between
// a write and the reads that must see it, and the plain loads below were measured.
template <int kLanes, int kWords>
struct RowOfLanes {
  float4 word[kWords];

  __device__ void load(const float4* row, int lane, int words) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const int k = w * kLanes + lane;
      word[w] = k < words ? row[k] : float4{0, 0, 0, 0};
    }
  }
};

template <ItemRule kRule, int kLanes, int kWords, int kAhead>
__global__ void __launch_bounds__(kMaxWarpThreads)
    warp_kernel(const Arrays a, const IterationSource source, int users_per_warp) {
  constexpr int kGroups = 32 / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warp = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const std::int64_t first = warp * users_per_warp;
  if (first >= a.n_users) return;  // whole warps only
  const Iteration now = iteration_of(source);

  Turn own{0, -1, 0.0F, false};
  float own_user_bias = 0;
  float own_item_bias = 0;
  if (lane < users_per_warp && first + lane < a.n_users) {
    own = take_turn<kRule>(
        a, strided_user(static_cast<std::int32_t>(first + lane), now.offset, a.n_users),
        now.number);
    if (own.item >= 0) {
      own_user_bias = a.user_bias[own.user];
      own_item_bias = a.from.bias[own.item];
    }
  }

  const int words = (a.factors + 3) / 4;
  const int group = lane / kLanes;
  const int member = lane % kLanes;
  float4* p_rows = reinterpret_cast<float4*>(a.p);
  const float4* q_rows = reinterpret_cast<const float4*>(a.from.q);
  float4* q_to_rows = reinterpret_cast<float4*>(a.to.q);

  for (int base = 0; base < users_per_warp; base += kGroups * kAhead) {
    RowOfLanes<kLanes, kWords> p[kAhead];
    RowOfLanes<kLanes, kWords> q[kAhead];
    std::int32_t user[kAhead];
    std::int32_t item[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int from = (base + i * kGroups + group) % 32;
      user[i] = __shfl_sync(kFullWarp, own.user, from);
      item[i] = __shfl_sync(kFullWarp, own.item, from);
      if (base + i * kGroups + group >= users_per_warp) item[i] = -1;
      if (item[i] >= 0) {
        p[i].load(p_rows + std::int64_t{user[i]} * words, member, words);
        q[i].load(q_rows + std::int64_t{item[i]} * words, member, words);
      }
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int from = (base + i * kGroups + group) % 32;
      float dot = 0;
      if (item[i] >= 0) {
#pragma unroll
        for (int w = 0; w < kWords; ++w) dot = dot4(p[i].word[w], q[i].word[w], dot);
      }
      dot = cuda::sum_over_lanes<kLanes>(dot);
      const float value = __shfl_sync(kFullWarp, own.value, from);
      const float user_bias = __shfl_sync(kFullWarp, own_user_bias, from);
      const float item_bias = __shfl_sync(kFullWarp, own_item_bias, from);
      const bool writes = __shfl_sync(kFullWarp, static_cast<int>(own.writes), from) != 0;
      if (item[i] < 0) continue;
      const float gain =
          step.rate * sgd::rating_error<true>(step, value, user_bias, item_bias, dot);
      if (member == 0) {
        write_biases<kRule>(a, {user[i], item[i], value, writes}, user_bias, item_bias, gain, step);
      }
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const int k = w * kLanes + member;
        if (k >= words) continue;
        p_rows[std::int64_t{user[i]} * words + k] =
            stepped4(p[i].word[w], q[i].word[w], gain, step.shrink_p);
        if (writes) {
          write_item<kRule>(a, q_to_rows + std::int64_t{item[i]} * words + k, q[i].word[w],
                            p[i].word[w], gain, step);
        }
      }
    }
  }
}

template <ItemRule kRule, int kLanes, int kWords, int kAhead>
void launch_warps(const Settings& settings, const Arrays& arrays, const IterationSource& source,
                  cudaStream_t stream) {
  const int threads = settings.threads_per_block;
  const std::int64_t users_per_block = std::int64_t{settings.users_per_warp} * (threads / 32);
  warp_kernel<kRule, kLanes, kWords, kAhead>
      <<<cuda::blocks_for(arrays.n_users, users_per_block), threads, 0, stream>>>(
          arrays, source, settings.users_per_warp);
}

// Rows up to 32 factors go to 8 lanes, so that a warp works on four users at once; and so on.
template <ItemRule kRule>
void launch_by_length(const Settings& settings, const Arrays& arrays, const IterationSource& source,
                      cudaStream_t stream) {
  const int words = (arrays.factors + 3) / 4;
  if (words <= 8) return launch_warps<kRule, 8, 1, 4>(settings, arrays, source, stream);
  if (words <= 16) return launch_warps<kRule, 16, 1, 4>(settings, arrays, source, stream);
  if (words <= 32) return launch_warps<kRule, 32, 1, 4>(settings, arrays, source, stream);
  if (words <= 64) return launch_warps<kRule, 32, 2, 2>(settings, arrays, source, stream);
  if (words <= 96) return launch_warps<kRule, 32, 3, 2>(settings, arrays, source, stream);
  if (words <= 128) return launch_warps<kRule, 32, 4, 1>(settings, arrays, source, stream);
  return launch_warps<kRule, 32, 8, 1>(settings, arrays, source, stream);
}

template <ItemRule kRule>
void launch_rule(const Settings& settings, const Arrays& arrays, const IterationSource& source,
                 cudaStream_t stream) {
  if (settings.mapping == Mapping::warp) {
    launch_by_length<kRule>(settings, arrays, source, stream);
  } else {
    const int threads = settings.threads_per_block;
    thread_kernel<kRule>
        <<<cuda::blocks_for(arrays.n_users, threads), threads, 0, stream>>>(arrays, source);
  }
  MF_CUDA_LAUNCHED("cu2rec iteration");
}

__global__ void schedule_kernel(Iteration* schedule, int count, std::int64_t* next,
                                std::int64_t stride, std::int32_t n_users) {
  const std::int64_t first = *next;
  __syncthreads();
  const int k = static_cast<int>(threadIdx.x);
  if (k < count) schedule[k] = iteration_at(first + k, stride, n_users);
  if (k == 0) *next = first + count;
}

__global__ void init_states_kernel(curandStateXORWOW* states, std::int32_t n_users,
                                   std::uint64_t seed) {
  const auto user = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (user < n_users) curand_init(seed, static_cast<unsigned long long>(user), 0, states + user);
}

}  // namespace

void set_step(const sgd::Step<float>& values, cudaStream_t stream) {
  MF_CUDA(
      cudaMemcpyToSymbolAsync(step, &values, sizeof(values), 0, cudaMemcpyHostToDevice, stream));
}

void launch_iteration(const Settings& settings, const Arrays& arrays, const IterationSource& source,
                      cudaStream_t stream) {
  if (arrays.n_users == 0) return;
  switch (settings.rule) {
    case ItemRule::atomic:
      return launch_rule<ItemRule::atomic>(settings, arrays, source, stream);
    case ItemRule::last_writer:
      return launch_rule<ItemRule::last_writer>(settings, arrays, source, stream);
    case ItemRule::first_writer:
      return launch_rule<ItemRule::first_writer>(settings, arrays, source, stream);
  }
}

void launch_schedule(Iteration* schedule, int count, std::int64_t* next, std::int64_t stride,
                     std::int32_t n_users, cudaStream_t stream) {
  schedule_kernel<<<1, 1024, 0, stream>>>(schedule, count, next, stride, n_users);
  MF_CUDA_LAUNCHED("cu2rec schedule");
}

void launch_init_states(curandStateXORWOW* states, std::int32_t n_users, std::uint64_t seed,
                        cudaStream_t stream) {
  if (n_users == 0) return;
  constexpr int kThreads = 128;
  init_states_kernel<<<cuda::blocks_for(n_users, kThreads), kThreads, 0, stream>>>(states, n_users,
                                                                                   seed);
  MF_CUDA_LAUNCHED("cu2rec init_states");
}

}  // namespace mf::cu2rec
