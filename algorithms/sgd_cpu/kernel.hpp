// The inner loops of SGD, one build per instruction set, chosen at run time.
//
// For a rating r of user u and item i, with e = r - (mu + b_u + c_i + p_u . q_i):
//
//   p_u += rate (e q_i - reg_p p_u)
//   q_i += rate (e p_u - reg_q q_i)      (with p_u as it was before)
//   b_u += rate (e - reg_b b_u)
//   c_i += rate (e - reg_c c_i)
//
// The plain model has neither mu nor biases.
//
// This header holds plain data only: it is included by files compiled for AVX, and an inline
// function here could be emitted with AVX code and then linked into code for every CPU.
#pragma once

#include <cstdint>

namespace mf::sgd_cpu {

// Constants of one epoch. A shrink is rate * regularizer: p - shrink * p is the regularized row.
struct Step {
  float rate = 0;
  float mean = 0;
  float shrink_p = 0;
  float shrink_q = 0;
  float shrink_user_bias = 0;
  float shrink_item_bias = 0;
};

// Rows of both sides: row x starts at p + x * stride, is aligned to 64 bytes, and is zero from
// `factors` to `stride`. The bias pointers are null for the plain model.
struct Rows {
  float* p = nullptr;
  float* q = nullptr;
  float* user_bias = nullptr;
  float* item_bias = nullptr;
  std::int64_t stride = 0;  // floats, a multiple of 16
  std::int32_t factors = 0;
};

struct Triple {
  std::int32_t user;
  std::int32_t item;
  float value;
};

// Ratings grouped by user: `count` consecutive entries belong to row `user` of P.
struct Run {
  std::int32_t user;
  std::int32_t count;
};
struct Entry {
  std::int32_t item;
  float value;
};

// Ratings one after another. Not instrumented by ThreadSanitizer: Hogwild runs it on shared rows.
using StreamKernel = void (*)(const Rows&, const Step&, const Triple* ratings, std::int64_t count);

// Runs one after another; their entries follow each other from `entries`. Instrumented: it must
// never run on rows another thread touches.
using RunKernel = void (*)(const Rows&, const Step&, const Run* runs, std::int64_t n_runs,
                           const Entry* entries, std::int64_t n_entries);

struct Kernels {
  StreamKernel stream = nullptr;
  RunKernel runs = nullptr;
};

// Defined in the file compiled for each instruction set.
Kernels scalar_kernels(std::int32_t factors, bool biased);
Kernels avx2_kernels(std::int32_t factors, bool biased);
Kernels avx512_kernels(std::int32_t factors, bool biased);

}  // namespace mf::sgd_cpu
