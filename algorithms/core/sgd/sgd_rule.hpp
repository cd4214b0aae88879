// The update of SGD, written once: kernels map it onto threads and lanes, tests run it on the host.
//
//   e    = r - (mu + b_u + c_i + p_u . q_i)              plain model: r - p_u . q_i
//   p_u += rate (e q_i - reg_p p_u)      q_i += rate (e p_u - reg_q q_i)
//   b_u += rate (e - reg_b b_u)          c_i += rate (e - reg_c c_i)        all with old values
//
// With gain = rate e and shrink = rate reg every line is  x += gain y - shrink x,  y = 1 for a
// bias. Each multiply-add is one instruction, so that host and device round alike.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace mf::sgd {

// Constants of an epoch. Real is float or double, a shrink rate * regularizer.
template <class Real>
struct Step {
  Real rate = 0;
  Real mean = 0;
  Real shrink_p = 0;
  Real shrink_q = 0;
  Real shrink_user_bias = 0;
  Real shrink_item_bias = 0;
};

// How a number is multiplied and added: fma is a b + c, fnma is c - a b, each rounded once. Vectors
// of an instruction set bring their own (algorithms/sgd_cpu/kernel_body.hpp).
template <class Real>
struct Arithmetic {
  MF_HD static Real fma(Real a, Real b, Real c) {
    if constexpr (sizeof(Real) == sizeof(float)) {
      return ::fmaf(a, b, c);
    } else {
      return ::fma(a, b, c);
    }
  }
  MF_HD static Real fnma(Real a, Real b, Real c) { return fma(-a, b, c); }
};

// x after an update by y.
template <class Math, class Number>
MF_HD Number stepped(Number x, Number y, Number gain, Number shrink) {
  return Math::fma(gain, y, Math::fnma(shrink, x, x));
}
template <class Real>
MF_HD Real stepped(Real x, Real y, Real gain, Real shrink) {
  return stepped<Arithmetic<Real>, Real>(x, y, gain, shrink);
}

// The addend of an update to x, for atomic additions.
template <class Real>
MF_HD Real gradient(Real x, Real y, Real gain, Real shrink) {
  return Arithmetic<Real>::fma(gain, y, -shrink * x);
}

// e, for either model.
template <bool kBiased, class Real>
MF_HD Real rating_error(const Step<Real>& step, Real rating, Real user_bias, Real item_bias,
                        Real dot) {
  if constexpr (kBiased) return rating - (((step.mean + user_bias) + item_bias) + dot);
  return rating - dot;
}

// One whole update of rows of `factors` numbers, one after another: the reference of all others.
// The biases are null for the plain model.
template <class Real>
MF_HD void update(const Step<Real>& step, Real rating, Real* p, Real* q, std::int32_t factors,
                  Real* user_bias = nullptr, Real* item_bias = nullptr) {
  Real dot = 0;
  for (std::int32_t k = 0; k < factors; ++k) dot = Arithmetic<Real>::fma(p[k], q[k], dot);
  const Real error = user_bias == nullptr
                         ? rating_error<false>(step, rating, Real{0}, Real{0}, dot)
                         : rating_error<true>(step, rating, *user_bias, *item_bias, dot);
  const Real gain = step.rate * error;
  for (std::int32_t k = 0; k < factors; ++k) {
    const Real p_old = p[k];
    p[k] = stepped(p_old, q[k], gain, step.shrink_p);
    q[k] = stepped(q[k], p_old, gain, step.shrink_q);
  }
  if (user_bias == nullptr) return;
  *user_bias = stepped(*user_bias, Real{1}, gain, step.shrink_user_bias);
  *item_bias = stepped(*item_bias, Real{1}, gain, step.shrink_item_bias);
}

}  // namespace mf::sgd
