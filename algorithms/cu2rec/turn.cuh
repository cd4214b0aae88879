// A user's turn in an iteration, and the whole turn by one thread (thread_kernel). The kernels and
// their benchmarks share it.
#pragma once

#include <curand_kernel.h>

#include "algorithms/core/random.hpp"
#include "algorithms/cu2rec/kernels.hpp"

namespace mf::cu2rec {

__device__ inline Iteration iteration_of(const IterationSource& source) {
  return source.scheduled == nullptr ? source.now : *source.scheduled;
}

__device__ inline std::uint32_t draw_bits(const Arrays& a, std::int32_t user,
                                          std::int64_t iteration) {
  if (a.states == nullptr) return random_bits(a.seed, user, iteration);
  curandStateXORWOW state = a.states[user];
  const std::uint32_t bits = curand(&state);
  a.states[user] = state;
  return bits;
}

// A user's turn: the rating it drew, and whether it writes the item.
struct Turn {
  std::int32_t user;
  std::int32_t item;  // negative: the user has no ratings
  float value;
  bool writes;
};

// The paper's flag is a plain array without compare-and-swap: several users may find an item
// unclaimed at the same time, and then all of them write.
template <ItemRule kRule>
__device__ bool claim(std::int32_t* claimed_in, std::int64_t iteration) {
  if constexpr (kRule != ItemRule::first_writer) return true;
  const auto mark = static_cast<std::int32_t>(iteration);
  const bool free = *claimed_in != mark;
  if (free) *claimed_in = mark;
  return free;
}

template <ItemRule kRule>
__device__ Turn take_turn(const Arrays& a, std::int32_t user, std::int64_t iteration) {
  const std::int64_t low = a.user_offsets[user];
  const std::int64_t count = a.user_offsets[user + 1] - low;
  if (count == 0) return {user, -1, 0.0F, false};
  const RowRating rating = a.ratings[low + pick(draw_bits(a, user, iteration), count)];
  return {user, rating.other, rating.value, claim<kRule>(a.claimed_in + rating.other, iteration)};
}

__device__ inline void add_to(float4* to, float4 x, [[maybe_unused]] bool as_vector) {
#if __CUDA_ARCH__ >= 900
  if (as_vector) {
    atomicAdd(to, x);
    return;
  }
#endif
  atomicAdd(&to->x, x.x);
  atomicAdd(&to->y, x.y);
  atomicAdd(&to->z, x.z);
  atomicAdd(&to->w, x.w);
}

__device__ inline float4 stepped4(float4 x, float4 y, float gain, float shrink) {
  return {sgd::stepped(x.x, y.x, gain, shrink), sgd::stepped(x.y, y.y, gain, shrink),
          sgd::stepped(x.z, y.z, gain, shrink), sgd::stepped(x.w, y.w, gain, shrink)};
}

__device__ inline float4 gradient4(float4 x, float4 y, float gain, float shrink) {
  return {sgd::gradient(x.x, y.x, gain, shrink), sgd::gradient(x.y, y.y, gain, shrink),
          sgd::gradient(x.z, y.z, gain, shrink), sgd::gradient(x.w, y.w, gain, shrink)};
}

__device__ inline float dot4(float4 x, float4 y, float sum) {
  return fmaf(x.w, y.w, fmaf(x.z, y.z, fmaf(x.y, y.y, fmaf(x.x, y.x, sum))));
}

template <ItemRule kRule>
__device__ void write_item(const Arrays& a, float4* to, float4 q, float4 p, float gain,
                           const sgd::Step<float>& step) {
  if constexpr (kRule == ItemRule::atomic) {
    add_to(to, gradient4(q, p, gain, step.shrink_q), a.vector_atomics);
  } else {
    *to = stepped4(q, p, gain, step.shrink_q);
  }
}

template <ItemRule kRule>
__device__ void write_biases(const Arrays& a, const Turn& turn, float user_bias, float item_bias,
                             float gain, const sgd::Step<float>& step) {
  a.user_bias[turn.user] = sgd::stepped(user_bias, 1.0F, gain, step.shrink_user_bias);
  if (!turn.writes) return;
  if constexpr (kRule == ItemRule::atomic) {
    atomicAdd(a.to.bias + turn.item, sgd::gradient(item_bias, 1.0F, gain, step.shrink_item_bias));
  } else {
    a.to.bias[turn.item] = sgd::stepped(item_bias, 1.0F, gain, step.shrink_item_bias);
  }
}

// A thread a user, the factors one after another.
template <ItemRule kRule>
__device__ void thread_turn(const Arrays& a, const IterationSource& source,
                            const sgd::Step<float>& step) {
  const auto t = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (t >= a.n_users) return;
  const Iteration now = iteration_of(source);
  const Turn turn = take_turn<kRule>(a, strided_user(t, now.offset, a.n_users), now.number);
  if (turn.item < 0) return;

  const int words = (a.factors + 3) / 4;
  float4* p = reinterpret_cast<float4*>(a.p) + std::int64_t{turn.user} * words;
  const float4* q = reinterpret_cast<const float4*>(a.from.q) + std::int64_t{turn.item} * words;
  float4* q_to = reinterpret_cast<float4*>(a.to.q) + std::int64_t{turn.item} * words;
  const float user_bias = a.user_bias[turn.user];
  const float item_bias = a.from.bias[turn.item];
  float dot = 0;
#pragma unroll 8
  for (int k = 0; k < words; ++k) dot = dot4(p[k], q[k], dot);
  const float gain =
      step.rate * sgd::rating_error<true>(step, turn.value, user_bias, item_bias, dot);
  write_biases<kRule>(a, turn, user_bias, item_bias, gain, step);
  for (int k = 0; k < words; ++k) {
    const float4 p_old = p[k];
    const float4 q_old = q[k];
    p[k] = stepped4(p_old, q_old, gain, step.shrink_p);
    if (turn.writes) write_item<kRule>(a, q_to + k, q_old, p_old, gain, step);
  }
}

}  // namespace mf::cu2rec
