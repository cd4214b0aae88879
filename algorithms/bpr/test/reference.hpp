// An epoch one triple after another, in double, by the equations of the README.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "algorithms/bpr/settings.hpp"
#include "algorithms/core/model.hpp"
#include "datasets/ratings/ratings.hpp"
#include "testing/triples.hpp"

namespace mf::bpr::test {

inline Pairs pairs_of(const Ratings& train) {
  return {train.user_offsets().data(), train.users().data(), train.items().data(),
          train.values().data(),       train.nnz(),          train.n_items()};
}

struct Reference {
  Pairs pairs;
  std::int32_t f;
  Settings of;
  std::uint64_t seed = 1;
  std::vector<double> p, q;

  Reference(const Settings& settings, const Ratings& train, const Model& initial)
      : pairs(pairs_of(train)),
        f(initial.factors),
        of(settings),
        p(initial.p.begin(), initial.p.end()),
        q(initial.q.begin(), initial.q.end()) {}

  void run(std::int64_t epoch, double rate) {
    for (std::size_t k = 0; k < p.size(); k += f) p[k] = 1;
    for (std::size_t k = 0; epoch == 1 && k < q.size(); k += f) q[k] = 0;
    for (std::int64_t t = 0; t < pairs.count; ++t) train(epoch, t, rate);
  }

 private:
  double score(std::int32_t user, std::int32_t item) const {
    double x = 0;
    for (std::int64_t k = 0; k < f; ++k) x += p[user * f + k] * q[item * f + k];
    return x;
  }

  void train(std::int64_t epoch, std::int64_t t, double rate) {
    Rng rng = rng_of(seed, pairs.count, epoch, t);
    const std::int64_t at = of.tiled ? t : below(rng, pairs.count);
    const std::int32_t user = pairs.users[at];
    const Row row = row_of(pairs, user);
    const std::int64_t pair = of.tiled ? row.items - pairs.items + below(rng, row.count) : at;
    const std::int32_t item = pairs.items[pair];
    std::int32_t other = draw_other(pairs, row, of.negatives, rng);
    if (other == kNone) return;
    const double x = score(user, item);
    double a = 0, b = 0;
    if (of.loss == Loss::bpr) {
      a = 1 / (1 + std::exp(x - score(user, other)));
      b = -a;
    } else if (of.loss == Loss::logistic) {
      a = of.alpha * static_cast<double>(pairs.values[pair]) / (1 + std::exp(x));
      b = -1 / (1 + std::exp(-score(user, other)));
    } else {
      std::int64_t tries = 1;
      while (x - score(user, other) >= 1 && tries < of.max_tries) {
        Rng next = rng_of(seed, pairs.count, epoch, t, tries++);
        other = draw_other(pairs, row, of.negatives, next);
      }
      if (x - score(user, other) >= 1) return;
      const std::int64_t rank = (pairs.n_items - row.count) / tries;
      for (std::int64_t k = 1; k <= std::max<std::int64_t>(1, rank); ++k) {
        a += 1 / static_cast<double>(k);
      }
      b = -a;
    }
    for (std::int64_t k = 0; k < f; ++k) {
      double& pu = p[user * f + k];
      double& qi = q[item * f + k];
      double& qj = q[other * f + k];
      const double p_old = pu;
      pu += rate * (a * qi + b * qj - of.reg.p * pu);
      qi += rate * (a * p_old - of.reg.q * qi);
      qj += rate * (b * p_old - of.reg.q * qj);
    }
    p[user * f] = 1;
  }
};

// Users of two tastes: each was observed with about a third of the items of the own half, and with
// few of the other. User 0 and item 1 have no pair, user 1 has all items but one.
inline Ratings tastes(std::int32_t users, std::int32_t items) {
  Rng rng(17);
  std::vector<Rating> list;
  for (std::int32_t u = 1; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      const double chance = u % 2 == i % 2 ? 0.35 : 0.03;
      const bool has = rng.uniform() < chance;
      if (i != 1 && (has || u == 1)) {
        list.push_back({u, i, static_cast<float>(1 + rng.below(3))});
      }
    }
  }
  return mf::test::ratings_of(users, items, list);
}

// Share of the triples (u, i of the own half, j of the other) that the model has in order.
inline double share_in_order(const Model& model) {
  std::int64_t right = 0, all = 0;
  const auto score = [&](std::int64_t u, std::int64_t i) {
    double x = 0;
    for (std::int64_t k = 0; k < model.factors; ++k) {
      x += static_cast<double>(model.p[u * model.factors + k]) * model.q[i * model.factors + k];
    }
    return x;
  };
  for (std::int64_t u = 2; u < model.n_users; ++u) {
    for (std::int64_t i = 2 + u % 2; i < model.n_items; i += 2) {
      const std::int64_t j = i % 4 < 2 ? i + 1 : i - 1;
      if (j >= model.n_items) continue;
      ++all;
      right += score(u, i) > score(u, j) ? 1 : 0;
    }
  }
  return static_cast<double>(right) / static_cast<double>(all);
}

}  // namespace mf::bpr::test
