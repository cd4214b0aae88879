// The family on the host, one rating after another in the order of the arrangement, with the sums
// of the device: what the device computes, bit for bit.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/core/model.hpp"
#include "algorithms/core/sgd/sgd_rule.hpp"
#include "algorithms/gpusgd/test/arrangement.hpp"

namespace mf::gpusgd {

// p.q by the tree of Algorithm 1 (corrected): all threads of a round, then the next round.
template <class Real>
Real tree_dot(const Real* p, const Real* q, int f) {
  std::vector<Real> products;
  for (int k = 0; k < f; ++k) products.push_back(p[k] * q[k]);
  for (int distance = 1; distance < f; distance *= 2) {
    const std::vector<Real> before = products;
    for (int k = 0; k < f; ++k) {
      if (adds(k, distance, f)) products[k] += before[k + distance];
    }
  }
  return products[0];
}

template <class Real>
struct Reference {
  Settings settings;
  sgd::Step<Real> step;
  std::vector<Real> p, q;  // rows packed

  Reference(const Settings& s, const Model& initial, double rate)
      : settings(s),
        step(step_at<Real>(rate, s.reg, initial.mean)),
        p(initial.p.begin(), initial.p.end()),
        q(initial.q.begin(), initial.q.end()) {}

  void run_epoch(const Arrangement& arrangement) {
    for (const Rating& rating : arrangement.ratings) update(rating);
  }

  void update(const Rating& rating) {
    const std::int32_t f = settings.factors;
    Real* p_row = p.data() + std::int64_t{rating.user} * f;
    Real* q_row = q.data() + std::int64_t{rating.item} * f;
    Real* const no_bias = nullptr;
    if (settings.scheme == Scheme::grouped) {
      sgd::update(step, Real{rating.value}, p_row, q_row, f, no_bias, no_bias);
    } else {
      update_by_tree(Real{rating.value}, p_row, q_row);
    }
  }

 private:
  void update_by_tree(Real rating, Real* p_row, Real* q_row) {
    const Real dot = tree_dot(p_row, q_row, settings.factors);
    const Real gain = step.rate * sgd::rating_error<false>(step, rating, Real{0}, Real{0}, dot);
    for (std::int32_t k = 0; k < settings.factors; ++k) {
      const Real p_old = p_row[k];
      p_row[k] = sgd::stepped(p_old, q_row[k], gain, step.shrink_p);
      q_row[k] = sgd::stepped(q_row[k], p_old, gain, step.shrink_q);
    }
  }
};

}  // namespace mf::gpusgd
