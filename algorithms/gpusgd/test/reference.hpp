// The family on the host, one rating after another in the order of the partition, with the sums of
// the device: what the device computes, bit for bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "algorithms/core/model.hpp"
#include "algorithms/gpusgd/partition.hpp"
#include "algorithms/gpusgd/rule.hpp"
#include "algorithms/gpusgd/schedule.hpp"
#include "algorithms/gpusgd/settings.hpp"

namespace mf::gpusgd {

// p.q with its factors one after another.
template <class Real>
Real chain_dot(const Real* p, const Real* q, int f) {
  Real sum = 0;
  for (int k = 0; k < f; ++k) sum = multiply_add(p[k], q[k], sum);
  return sum;
}

// p.q by the tree of Algorithm 1 (corrected): all threads of a round, then the next round.
template <class Real>
Real tree_dot(const Real* p, const Real* q, int f) {
  std::vector<Real> products(static_cast<std::size_t>(f));
  for (int k = 0; k < f; ++k) products[static_cast<std::size_t>(k)] = p[k] * q[k];
  for (int distance = 1; distance < f; distance *= 2) {
    const std::vector<Real> before = products;
    for (int k = 0; k < f; ++k) {
      if (adds(k, distance, f)) {
        products[static_cast<std::size_t>(k)] += before[static_cast<std::size_t>(k + distance)];
      }
    }
  }
  return products[0];
}

template <class Real>
struct Reference {
  Scheme scheme;
  Settings settings;
  Hyper<Real> hyper;
  std::vector<Real> p, q, user_bias, item_bias;  // rows packed

  Reference(Scheme of, const Settings& s, const Model& initial, double rate)
      : scheme(of),
        settings(s),
        hyper(make_hyper<Real>(rate, s.biased() ? initial.mean : 0, s.reg)),
        p(initial.p.begin(), initial.p.end()),
        q(initial.q.begin(), initial.q.end()),
        user_bias(initial.user_bias.begin(), initial.user_bias.end()),
        item_bias(initial.item_bias.begin(), initial.item_bias.end()) {}

  void run_epoch(const Partition& partition) {
    for (const Rating& rating : partition.ratings) update(rating);
  }

  void update(const Rating& rating) {
    const auto f = static_cast<std::size_t>(settings.factors);
    const auto u = static_cast<std::size_t>(rating.user);
    const auto i = static_cast<std::size_t>(rating.item);
    Real* p_row = p.data() + u * f;
    Real* q_row = q.data() + i * f;
    const Real gain = hyper.rate * error(rating, dot(p_row, q_row));
    if (settings.biased()) {
      user_bias[u] = step(user_bias[u], Real{1}, gain, hyper.shrink_user_bias);
      item_bias[i] = step(item_bias[i], Real{1}, gain, hyper.shrink_item_bias);
    }
    for (std::size_t k = 0; k < f; ++k) {
      const Real p_old = p_row[k];
      p_row[k] = step(p_old, q_row[k], gain, hyper.shrink_p);
      q_row[k] = step(q_row[k], p_old, gain, hyper.shrink_q);
    }
  }

 private:
  Real dot(const Real* p_row, const Real* q_row) const {
    return scheme == Scheme::tree ? tree_dot(p_row, q_row, settings.factors)
                                  : chain_dot(p_row, q_row, settings.factors);
  }

  Real error(const Rating& rating, Real product) const {
    const auto r = static_cast<Real>(rating.value);
    if (!settings.biased()) return plain_error(r, product);
    return biased_error(hyper.mean, r, user_bias[static_cast<std::size_t>(rating.user)],
                        item_bias[static_cast<std::size_t>(rating.item)], product);
  }
};

// What prepare makes of the ratings.
inline Partition partition_of(Scheme scheme, const Settings& settings, const Ratings& train,
                              std::uint64_t seed, ThreadTeam& team) {
  const bool grouped = scheme == Scheme::grouped;
  const Cut cut = grouped ? square_cut(train.n_users(), train.n_items(), settings.blocks)
                          : rectangular_cut(train.n_users(), train.n_items(), settings.blocks);
  Partition partition = make_partition(train, cut, team);
  if (grouped) group_blocks(partition, team);
  if (settings.order == Order::shuffled) shuffle_blocks(partition, seed, team);
  return partition;
}

}  // namespace mf::gpusgd
