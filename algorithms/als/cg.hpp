// Conjugate gradients for A x = b, A symmetric and positive definite: Algorithm 1 of the cuMF_ALS
// paper, with its line 5 corrected to r = r - alpha A p. It starts from the x it is given (the row
// of the last iteration).
//
// The paper divides by p.Ap in every step. If that is not positive, the residual is zero (or has
// vanished in T), so x is as good as it gets and the loop ends; a row without ratings that starts
// at zero is such a case.
#pragma once

#include <cmath>
#include <cstdint>

namespace mf::als {

struct CgRule {
  int steps;         // f_s, at most
  double tolerance;  // ends when the norm of the residual is below it
};

template <class T>
T cg_dot(const T* a, const T* b, std::int64_t count) {
  T sums[4] = {};  // four chains of additions
  const std::int64_t whole = count / 4 * 4;
  for (std::int64_t i = 0; i < whole; i += 4) {
    for (std::int64_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (std::int64_t i = whole; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// multiply(v, out) writes A v to out. r and p have `count` elements, ap as many as multiply writes.
// Returns the number of steps.
template <class T, class Multiply>
int cg_solve(const Multiply& multiply, std::int64_t count, const T* b, T* x, const CgRule& rule,
             T* r, T* p, T* ap) {
  multiply(x, ap);
  for (std::int64_t i = 0; i < count; ++i) p[i] = r[i] = b[i] - ap[i];
  T rs_old = cg_dot(r, r, count);
  int step = 0;
  while (step < rule.steps) {
    multiply(p, ap);
    const T curvature = cg_dot(p, ap, count);
    if (curvature <= 0) break;  // NaN goes on into x
    ++step;
    const T alpha = rs_old / curvature;
    for (std::int64_t i = 0; i < count; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * ap[i];
    }
    const T rs_new = cg_dot(r, r, count);
    if (rs_new == 0 || std::sqrt(static_cast<double>(rs_new)) < rule.tolerance) break;
    const T beta = rs_new / rs_old;
    for (std::int64_t i = 0; i < count; ++i) p[i] = r[i] + beta * p[i];
    rs_old = rs_new;
  }
  return step;
}

}  // namespace mf::als
