// The inner loops of SGD, one build per instruction set, chosen at run time. core/sgd/sgd_rule.hpp
// has the update, README.md its bytes and FLOPs, NOTES.md the bounds of the loops.
//
// Plain data and templates only: this header is included by files compiled for AVX, and an inline
// function could be emitted there and then linked into code for every CPU. The templates of the
// rule are instantiated with types local to those files (kernel_body.hpp).
#pragma once

#include <cstdint>

#include "algorithms/core/sgd/sgd_rule.hpp"
#include "datasets/ratings/rating.hpp"

namespace mf {
enum class Isa;  // base/host/isa.hpp
}

namespace mf::sgd_cpu {

using Step = sgd::Step<float>;

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

// Ratings grouped by user: `count` consecutive ones belong to row `user` of P.
struct Run {
  std::int32_t user;
  std::int32_t count;
};

// Ratings one after another. Not instrumented by ThreadSanitizer: Hogwild runs it on shared rows.
using StreamKernel = void (*)(const Rows&, const Step&, const Rating* ratings, std::int64_t count);

// Runs one after another; their ratings (`other` is the item) follow each other. Instrumented: it
// must never run on rows another thread touches.
using RunKernel = void (*)(const Rows&, const Step&, const Run* runs, std::int64_t n_runs,
                           const RowRating* ratings, std::int64_t n_ratings);

struct Kernels {
  StreamKernel stream = nullptr;
  RunKernel runs = nullptr;
};

Kernels kernels(Isa isa, std::int32_t factors, bool biased);

// Defined in the file compiled for each instruction set.
Kernels scalar_kernels(std::int32_t factors, bool biased);
Kernels avx2_kernels(std::int32_t factors, bool biased);
Kernels avx512_kernels(std::int32_t factors, bool biased);

}  // namespace mf::sgd_cpu
