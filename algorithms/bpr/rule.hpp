// The update of a triple: user u, an item i that u was observed with, an item j that u was not.
// Written once: kernels map it onto lanes, tests run it on the host. With a, b = -dL / d(score):
//
//   p_u += rate (a q_i + b q_j - reg_p p_u)
//   q_i += rate (a p_u - reg_q q_i)      q_j += rate (b p_u - reg_q q_j)      all with old values
//
//   bpr       L = ln(1 + exp(-(x_ui - x_uj)))                          a = s(x_uj - x_ui), b = -a
//   warp      L = H(rank) max(0, 1 - (x_ui - x_uj)), rank estimated    a = H(rank), b = -a
//   logistic  L = w ln(1 + exp(-x_ui)) + ln(1 + exp(x_uj))             a = w s(-x_ui), b = -s(x_uj)
//
// s(x) = 1 / (1 + exp(-x)), H(k) = 1 + 1/2 + ... + 1/k, x_ui = p_u . q_i. Element 0 of p_u stays
// 1, so element 0 of q_i is the bias of i.
//
// With n items j to a pair, bpr's L is the mean over them. The cosine contrastive loss (Mao et al.,
// SimpleX, CIKM 2021) has no bias, so element 0 is free, too:
//
//   ccl       L = 1 - cos(p_u, q_i) + weight / n sum over j of max(0, cos(p_u, q_j) - margin)
//
// Then every row q pulls p_u, and p_u pulls q, by a Pull.
#pragma once

#include <cmath>
#include <cstdint>

#include "algorithms/core/sgd/sgd_rule.hpp"
#include "base/host_device.hpp"
#include "base/json/names.hpp"

namespace mf::bpr {

enum class Loss { bpr, warp, logistic, ccl };
inline constexpr Names kLosses{std::to_array<Named<Loss>>(
    {{"bpr", Loss::bpr}, {"warp", Loss::warp}, {"logistic", Loss::logistic}, {"ccl", Loss::ccl}})};

template <class Real>
struct Gains {
  Real item = 0;   // a
  Real other = 0;  // b
};

template <class Real>
MF_HD Real sigmoid(Real x) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(Real) == sizeof(float)) return __fdividef(1.0F, 1.0F + __expf(-x));
#endif
  return Real{1} / (Real{1} + std::exp(-x));
}

// `weight`: of warp H(rank), of logistic w; bpr has none.
template <Loss kLoss, class Real>
MF_HD Gains<Real> gains(Real x_item, Real x_other, Real weight) {
  if constexpr (kLoss == Loss::bpr) {
    const Real a = sigmoid(x_other - x_item);
    return {a, -a};
  } else if constexpr (kLoss == Loss::warp) {
    return {weight, -weight};
  } else {
    return {weight * sigmoid(-x_item), -sigmoid(x_other)};
  }
}

// The part of one row q in the step down L: -dL / dp_u = gain q - user p_u, and
// -dL / dq = gain p_u - row q.
template <class Real>
struct Pull {
  Real gain = 0;
  Real user = 0;
  Real row = 0;
};

// The pull of L = weight (1 - cos(p_u, q)) if the cosine is above the margin, from x = p_u . q and
// the squares of the lengths. It is orthogonal to the row that it moves. A row of zeros has no
// direction and no pull.
template <class Real>
MF_HD Pull<Real> cosine_pull(Real x, Real user_square, Real row_square, Real weight,
                             Real margin = -2) {
  const Real length = std::sqrt(user_square * row_square);
  if (!(length > 0 && x > margin * length)) return {};
  const Real gain = weight / length;
  return {gain, gain * x / user_square, gain * x / row_square};
}

// For WARP: j counts if it comes closer than this.
inline constexpr float kMargin = 1;

// H(rank), to .002, of the rank that the first of `tries` draws from `absent` items suggests which
// was too close: floor(absent / tries), at least 1.
MF_HD float rank_weight(std::int64_t absent, std::int64_t tries) {
  const std::int64_t rank = absent / tries;
  const float k = static_cast<float>(rank > 0 ? rank : 1) + 0.5F;
  return logf(k) + 0.57721566F + 1 / (24 * k * k);
}

// The new p, of one element: gain = rate a, other_gain = rate b.
template <class Real>
MF_HD Real stepped_user(Real p, Real q_item, Real q_other, Real gain, Real other_gain,
                        Real shrink) {
  using Math = sgd::Arithmetic<Real>;
  return Math::fma(gain, q_item, Math::fma(other_gain, q_other, Math::fnma(shrink, p, p)));
}

}  // namespace mf::bpr
