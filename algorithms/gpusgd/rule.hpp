// The update rule, once for the kernels and for the reference, in either precision. Every
// multiply-add is written as one, so that host and device round alike.
//
//   e    = r - p_u . q_i                  (biased: r - (mu + b_u + c_i + p_u . q_i))
//   p_u += rate (e q_i - reg_p p_u)      q_i += rate (e p_u - reg_q q_i)
//   b_u += rate (e - reg_b b_u)          c_i += rate (e - reg_c c_i)        all with old values
#pragma once

#include <cmath>

#include "algorithms/core/sgd_params.hpp"
#include "base/host_device.hpp"

namespace mf::gpusgd {

// Constants of an epoch. A shrink is rate * regularizer.
template <class Real>
struct Hyper {
  Real rate;
  Real mean;
  Real shrink_p;
  Real shrink_q;
  Real shrink_user_bias;
  Real shrink_item_bias;
};

template <class Real>
Hyper<Real> make_hyper(double rate, double mean, const Regularizers& reg) {
  const auto real = [](double x) { return static_cast<Real>(x); };
  return {real(rate),
          real(mean),
          real(rate * reg.p),
          real(rate * reg.q),
          real(rate * reg.user_bias),
          real(rate * reg.item_bias)};
}

// a b + c, rounded once.
MF_HD float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
MF_HD double multiply_add(double a, double b, double c) { return fma(a, b, c); }

template <class Real>
MF_HD Real plain_error(Real rating, Real dot) {
  return rating - dot;
}

template <class Real>
MF_HD Real biased_error(Real mean, Real rating, Real user_bias, Real item_bias, Real dot) {
  return rating - (((mean + user_bias) + item_bias) + dot);
}

// x + rate (e y - reg x), with gain = rate e and shrink = rate reg.
template <class Real>
MF_HD Real step(Real x, Real y, Real gain, Real shrink) {
  return multiply_add(gain, y, multiply_add(-shrink, x, x));
}

}  // namespace mf::gpusgd
