// The one source of all inner loops:
//
//   e    = r - (mu + b_u + c_i + p_u . q_i)              plain model: r - p_u . q_i
//   p_u += rate (e q_i - reg_p p_u)      q_i += rate (e p_u - reg_q q_i)
//   b_u += rate (e - reg_b b_u)          c_i += rate (e - reg_c c_i)        all with old values
//
// A row lies on vectors of S::kWidth floats. An update reads the rating (12 bytes, 8 in a run), and
// reads and writes 4 (f + 1) bytes of Q and, once a run, of P; it takes 10 f + 13 FLOPs (plain: 4 f
// and 10 f + 2), 5 f / S::kWidth vector instructions of arithmetic. NOTES.md has the floor.
//
// kernel_scalar.cpp, kernel.avx2.cpp and kernel.avx512.cpp include it with a vector type S each. S
// and One live in the unnamed namespace of that file: every instantiation, the rule's included, is
// local to it, so the linker can never put code of one instruction set in the place of another's.
//
// S has: Vec, kWidth (floats), kRegisters, kMaxVectors (longest row, in vectors, kept in registers)
// and load, store, zero, set1, add, sub, mul, fma (a b + c), fnma (c - a b), sum_all (the sum of
// all lanes in every lane), first (lane 0).
#pragma once

#include <cstdint>

#include "algorithms/core/vectors.hpp"
#include "algorithms/sgd_cpu/kernel.hpp"

namespace mf::sgd_cpu {

// Data races on the rows are the design of Hogwild, so its loop is not instrumented.
#define MF_RACY __attribute__((no_sanitize("thread")))

// Updates between the fetch of a row and its use.
inline constexpr std::int64_t kAhead = 8;
inline constexpr std::int64_t kLineFloats = 16;
// For a longer row only the head is fetched; the hardware's stream prefetcher takes the rest.
inline constexpr std::int64_t kMaxLines = 32;

namespace {  // in a header: local to each file, and compiled for its instruction set

// One float at a time, for the biases; the compiler suits it to the instruction set.
struct One {
  MF_INLINE static float fma(float a, float b, float c) { return a * b + c; }
  MF_INLINE static float fnma(float a, float b, float c) { return c - a * b; }
};

MF_INLINE float stepped_bias(float bias, float gain, float shrink) {
  return sgd::stepped<One>(bias, 1.0F, gain, shrink);
}

}  // namespace

MF_INLINE void prefetch_row(const float* row, std::int64_t stride) {
  const std::int64_t lines = stride / kLineFloats;
  for (std::int64_t i = 0; i < (lines < kMaxLines ? lines : kMaxLines); ++i) {
    __builtin_prefetch(row + i * kLineFloats, 1, 3);
  }
}

template <int kLines>
MF_INLINE void prefetch_lines(const float* row) {
#pragma GCC unroll 16
  for (int i = 0; i < kLines; ++i) __builtin_prefetch(row + i * kLineFloats, 1, 3);
}

// NV vectors a row, known when compiled.
template <class S, int NV>
MF_INLINE typename S::Vec dot(const typename S::Vec (&p)[NV], const typename S::Vec (&q)[NV]) {
  constexpr int kChains = NV < 4 ? NV : 4;
  typename S::Vec sum[kChains];
#pragma GCC unroll 16
  for (int v = 0; v < NV; ++v) {
    sum[v % kChains] = v < kChains ? S::mul(p[v], q[v]) : S::fma(p[v], q[v], sum[v % kChains]);
  }
  if constexpr (kChains == 4)
    return S::sum_all(S::add(S::add(sum[0], sum[1]), S::add(sum[2], sum[3])));
  if constexpr (kChains == 3) return S::sum_all(S::add(S::add(sum[0], sum[1]), sum[2]));
  if constexpr (kChains == 2) return S::sum_all(S::add(sum[0], sum[1]));
  return S::sum_all(sum[0]);
}

// A row of any length.
template <class S>
MF_INLINE typename S::Vec dot(const float* p, const float* q, std::int64_t vectors) {
  constexpr std::int64_t w = S::kWidth;
  typename S::Vec sum[4] = {S::zero(), S::zero(), S::zero(), S::zero()};
  std::int64_t v = 0;
  for (; v + 4 <= vectors; v += 4) {
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < 4; ++k) {
      sum[k] = S::fma(S::load(p + (v + k) * w), S::load(q + (v + k) * w), sum[k]);
    }
  }
  for (; v < vectors; ++v) sum[0] = S::fma(S::load(p + v * w), S::load(q + v * w), sum[0]);
  return S::sum_all(S::add(S::add(sum[0], sum[1]), S::add(sum[2], sum[3])));
}

template <class S>
struct Constants {
  typename S::Vec rate, shrink_p, shrink_q;
  MF_INLINE explicit Constants(const Step& step)
      : rate(S::set1(step.rate)),
        shrink_p(S::set1(step.shrink_p)),
        shrink_q(S::set1(step.shrink_q)) {}
};

template <class S>
MF_INLINE void update_rows(float* p, float* q, std::int64_t vectors, const Constants<S>& c,
                           typename S::Vec gain) {
  for (std::int64_t v = 0; v < vectors; ++v) {
    const auto pv = S::load(p + v * S::kWidth);
    const auto qv = S::load(q + v * S::kWidth);
    S::store(p + v * S::kWidth, sgd::stepped<S>(pv, qv, gain, c.shrink_p));
    S::store(q + v * S::kWidth, sgd::stepped<S>(qv, pv, gain, c.shrink_q));
  }
}

template <class S, int NV>
MF_INLINE void load_row(typename S::Vec (&to)[NV], const float* from) {
#pragma GCC unroll 16
  for (int v = 0; v < NV; ++v) to[v] = S::load(from + v * S::kWidth);
}

// One rating, whose value less the mean and the biases is `target`; returns its gain.
template <class S, int NV>
MF_INLINE float update_one(float* p, float* q, std::int64_t vectors, const Constants<S>& c,
                           float target) {
  if constexpr (NV == 0) {
    const auto gain = S::mul(c.rate, S::sub(S::set1(target), dot<S>(p, q, vectors)));
    update_rows<S>(p, q, vectors, c, gain);
    return S::first(gain);
  } else {
    typename S::Vec pv[NV];
    typename S::Vec qv[NV];
    load_row<S>(pv, p);
    load_row<S>(qv, q);
    const auto gain = S::mul(c.rate, S::sub(S::set1(target), dot<S>(pv, qv)));
#pragma GCC unroll 16
    for (int v = 0; v < NV; ++v) {
      S::store(p + v * S::kWidth, sgd::stepped<S>(pv[v], qv[v], gain, c.shrink_p));
      S::store(q + v * S::kWidth, sgd::stepped<S>(qv[v], pv[v], gain, c.shrink_q));
    }
    return S::first(gain);
  }
}

template <class S, int NV, bool kBiased>
MF_RACY void stream(const Rows& rows, const Step& step, const Rating* ratings, std::int64_t count) {
  const Constants<S> c(step);
  const std::int64_t vectors = (rows.factors + S::kWidth - 1) / S::kWidth;
  for (std::int64_t k = 0; k < count; ++k) {
    const Rating next = ratings[k + kAhead < count ? k + kAhead : count - 1];
    prefetch_row(rows.p + next.user * rows.stride, rows.stride);
    prefetch_row(rows.q + next.item * rows.stride, rows.stride);
    const Rating rating = ratings[k];
    float* p = rows.p + rating.user * rows.stride;
    float* q = rows.q + rating.item * rows.stride;
    if constexpr (kBiased) {
      const float b = rows.user_bias[rating.user];
      const float d = rows.item_bias[rating.item];
      const float target = rating.value - step.mean - b - d;
      const float gain = update_one<S, NV>(p, q, vectors, c, target);
      rows.user_bias[rating.user] = stepped_bias(b, gain, step.shrink_user_bias);
      rows.item_bias[rating.item] = stepped_bias(d, gain, step.shrink_item_bias);
    } else {
      update_one<S, NV>(p, q, vectors, c, rating.value);
    }
  }
}

// The user's row and bias stay in registers over the run; the chain from one rating to the next is
// the dot product, its sum, the error and one fma.
template <class S, int NV, bool kBiased>
MF_INLINE void run_in_registers(const Rows& rows, const Step& step, const Constants<S>& c, Run run,
                                const RowRating* ratings, const RowRating* last) {
  typename S::Vec p[NV];
  float* row = rows.p + run.user * rows.stride;
  load_row<S>(p, row);
  float bias = kBiased ? rows.user_bias[run.user] : 0.0F;
  for (std::int32_t k = 0; k < run.count; ++k) {
    const RowRating* ahead = ratings + k + kAhead;
    prefetch_lines<(NV * S::kWidth + 15) / 16>(rows.q +
                                               (ahead < last ? ahead : last)->other * rows.stride);
    const RowRating rating = ratings[k];
    float* item = rows.q + rating.other * rows.stride;
    typename S::Vec q[NV];
    load_row<S>(q, item);
    float target = rating.value;
    if constexpr (kBiased) target = target - (step.mean + rows.item_bias[rating.other]) - bias;
    const auto gain = S::mul(c.rate, S::sub(S::set1(target), dot<S>(p, q)));
    constexpr bool kHold = 2 * NV + 6 <= S::kRegisters;
#pragma GCC unroll 16
    for (int v = 0; v < NV; ++v) {
      const auto qv = kHold ? q[v] : S::load(item + v * S::kWidth);
      S::store(item + v * S::kWidth, sgd::stepped<S>(qv, p[v], gain, c.shrink_q));
      p[v] = sgd::stepped<S>(p[v], qv, gain, c.shrink_p);
    }
    if constexpr (kBiased) {
      float& item_bias = rows.item_bias[rating.other];
      item_bias = stepped_bias(item_bias, S::first(gain), step.shrink_item_bias);
      bias = stepped_bias(bias, S::first(gain), step.shrink_user_bias);
    }
  }
#pragma GCC unroll 16
  for (int v = 0; v < NV; ++v) S::store(row + v * S::kWidth, p[v]);
  if constexpr (kBiased) rows.user_bias[run.user] = bias;
}

// Rows too long for the registers: the user's row stays in the first-level cache.
template <class S, bool kBiased>
MF_INLINE void run_in_cache(const Rows& rows, const Step& step, const Constants<S>& c, Run run,
                            const RowRating* ratings, const RowRating* last) {
  const std::int64_t vectors = (rows.factors + S::kWidth - 1) / S::kWidth;
  float* p = rows.p + run.user * rows.stride;
  float bias = kBiased ? rows.user_bias[run.user] : 0.0F;
  for (std::int32_t k = 0; k < run.count; ++k) {
    const RowRating* ahead = ratings + k + kAhead;
    prefetch_row(rows.q + (ahead < last ? ahead : last)->other * rows.stride, rows.stride);
    const RowRating rating = ratings[k];
    float* q = rows.q + rating.other * rows.stride;
    float target = rating.value;
    if constexpr (kBiased) target = target - (step.mean + rows.item_bias[rating.other]) - bias;
    const float gain = update_one<S, 0>(p, q, vectors, c, target);
    if constexpr (kBiased) {
      float& item_bias = rows.item_bias[rating.other];
      item_bias = stepped_bias(item_bias, gain, step.shrink_item_bias);
      bias = stepped_bias(bias, gain, step.shrink_user_bias);
    }
  }
  if constexpr (kBiased) rows.user_bias[run.user] = bias;
}

template <class S, int NV, bool kBiased>
void runs(const Rows& rows, const Step& step, const Run* first, std::int64_t n_runs,
          const RowRating* ratings, std::int64_t n_ratings) {
  const Constants<S> c(step);
  const RowRating* last = ratings + (n_ratings - 1);
  for (std::int64_t r = 0; r < n_runs; ++r) {
    prefetch_row(rows.p + first[r + 2 < n_runs ? r + 2 : n_runs - 1].user * rows.stride,
                 rows.stride);
    if constexpr (NV == 0) {
      run_in_cache<S, kBiased>(rows, step, c, first[r], ratings, last);
    } else {
      run_in_registers<S, NV, kBiased>(rows, step, c, first[r], ratings, last);
    }
    ratings += first[r].count;
  }
}

// The instantiation for this row length: exact up to S::kMaxVectors, else the generic one.
template <class S, bool kBiased, int NV = S::kMaxVectors>
Kernels kernels_for(std::int32_t factors) {
  if constexpr (NV == 0) {
    return {stream<S, 0, kBiased>, runs<S, 0, kBiased>};
  } else {
    if ((factors + S::kWidth - 1) / S::kWidth == NV) {
      return {stream<S, NV, kBiased>, runs<S, NV, kBiased>};
    }
    return kernels_for<S, kBiased, NV - 1>(factors);
  }
}

template <class S>
Kernels kernels_for(std::int32_t factors, bool biased) {
  return biased ? kernels_for<S, true>(factors) : kernels_for<S, false>(factors);
}

}  // namespace mf::sgd_cpu
