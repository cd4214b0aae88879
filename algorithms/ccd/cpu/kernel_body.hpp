// The one source of all inner loops:
//
//   exchange  R += u v_j - u' v'_j;  numerator += R w_j;  denominator += w_j^2     (w: `now`)
//   sums      the last two            change    R += u v_j
//
// A rating is its index (2 bytes, or 4 with one wide tile), R read and, but in `sums`, written (4
// and 4), and a gathered number of each of up to three vectors, from the first- or second-level
// cache. NOTES.md has the floor.
//
// kernel.cpp, kernel.avx2.cpp and kernel.avx512.cpp include it with a vector type S each. S lives
// in the unnamed namespace of that file, so every instantiation is local to it.
//
// S has: Vec, Index, Mask, kWidth, and load, store, gather, index (16 or 32 bits each) for whole
// vectors and for the lanes of a mask (0 in other lanes); first(n): the mask of n lanes; zero,
// set1, fma (a b + c), fnma (c - a b), sum (of all lanes).
#pragma once

#include <cstdint>

#include "algorithms/ccd/cpu/kernel.hpp"
#include "algorithms/core/vectors.hpp"

namespace mf::ccd::cpu {

enum class Kind { exchange, sums, change };

template <class S, Kind kKind>
struct Loop {
  using Vec = typename S::Vec;

  const Vectors& v;
  Vec own, own_held, numerator, denominator;

  MF_INLINE explicit Loop(const Vectors& vectors)
      : v(vectors),
        own(S::set1(vectors.own)),
        own_held(S::set1(vectors.own_held)),
        numerator(S::zero()),
        denominator(S::zero()) {}

  // The ratings of whole vectors, or of the lanes of a mask: `lanes` is nothing or that mask.
  template <class I, class... Mask>
  MF_INLINE void step(const I* indices, float* residual, Mask... lanes) {
    const auto index = S::index(indices, lanes...);
    Vec r = S::load(residual, lanes...);
    if constexpr (kKind == Kind::exchange) {
      r = S::fnma(own_held, S::gather(v.held, index, lanes...), r);
    }
    if constexpr (kKind != Kind::sums) {
      r = S::fma(own, S::gather(v.old, index, lanes...), r);
      S::store(residual, r, lanes...);
    }
    if constexpr (kKind != Kind::change) {
      const Vec w = S::gather(v.now, index, lanes...);
      numerator = S::fma(r, w, numerator);
      denominator = S::fma(w, w, denominator);
    }
  }

  template <class I>
  MF_INLINE void run(const I* indices, float* residual, std::int64_t count) {
    std::int64_t k = 0;
    for (; k + S::kWidth <= count; k += S::kWidth) step(indices + k, residual + k);
    if constexpr (S::kWidth > 1) {
      if (k < count) step(indices + k, residual + k, S::first(static_cast<int>(count - k)));
    }
  }
};

template <class S, Kind kKind>
Sums run_loop(const Run& run, const Vectors& vectors) {
  Loop<S, kKind> loop(vectors);
  if (run.narrow != nullptr) {
    loop.run(run.narrow, run.residual, run.count);
  } else {
    loop.run(run.wide, run.residual, run.count);
  }
  return {S::sum(loop.numerator), S::sum(loop.denominator)};
}

template <class S>
void run_change(const Run& run, const Vectors& vectors) {
  run_loop<S, Kind::change>(run, vectors);
}

template <class S>
Kernels kernels_for() {
  return {run_loop<S, Kind::exchange>, run_loop<S, Kind::sums>, run_change<S>};
}

}  // namespace mf::ccd::cpu
