// Conjugate gradients of a matrix that is there.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/als/cg.hpp"

namespace mf::als::test {

// A is symmetric, element (i, j) at a[i * count + j].
template <class T>
int cg_solve(const T* a, std::int64_t count, const T* b, T* x, const CgRule& rule) {
  std::vector<T> r(count), p(count), ap(count);
  const auto multiply = [&](const T* v, T* out) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = cg_dot(a + i * count, v, count);
  };
  return als::cg_solve(multiply, count, b, x, rule, r.data(), p.data(), ap.data());
}

}  // namespace mf::als::test
