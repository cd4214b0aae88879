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
    if (!of.cosine()) {
      for (std::size_t k = 0; k < p.size(); k += f) p[k] = 1;
      for (std::size_t k = 0; epoch == 1 && k < q.size(); k += f) q[k] = 0;
    }
    for (std::int64_t t = 0; t < pairs.count; ++t) train(epoch, t, rate);
  }

  void scale_items() {
    for (std::size_t i = 0; i < q.size(); i += f) {
      double square = 0;
      for (std::int64_t k = 0; k < f; ++k) square += q[i + k] * q[i + k];
      for (std::int64_t k = 0; k < f; ++k) q[i + k] /= std::sqrt(square);
    }
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
    if (of.many()) return train_many(epoch, t, rate, user, item, other);
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

  // A step down the loss of the pair with these items j, plus reg / 2 |row|^2 of each row that the
  // loss moves. Rows are taken one after another, p_u last.
  void train_many(std::int64_t epoch, std::int64_t t, double rate, std::int32_t user,
                  std::int32_t item, std::int32_t other) {
    const Row row = row_of(pairs, user);
    const std::vector<double> p_old(p.begin() + user * f, p.begin() + (user + 1) * f);
    std::vector<double> down(f), item_down(f);
    const double x_item = score(user, item);
    if (of.cosine()) item_down = of_item(user, item, down, 1);
    for (std::int64_t k = 0; k < of.per_pair; ++k) {
      if (k > 0) {
        Further random(seed, pairs.count, epoch, t, k);
        other = draw_other(pairs, row, of.negatives, random);
      }
      const auto n = static_cast<double>(of.per_pair);
      std::vector<double> q_down(f);
      double reg = of.reg.q;
      if (of.cosine()) {
        if (cosine(user, other) <= of.margin) continue;
        q_down = of_item(user, other, down, -of.weight / n);
      } else {
        const double s = 1 / (1 + std::exp(x_item - score(user, other))) / n;
        reg /= n;
        for (std::int64_t d = 0; d < f; ++d) {
          down[d] += s * (q[item * f + d] - q[other * f + d]);
          q_down[d] = -s * p_old[d];
          item_down[d] += s * p_old[d];
        }
      }
      step(&q[other * f], q_down, rate, reg);
    }
    step(&q[item * f], item_down, rate, of.reg.q);
    step(&p[user * f], down, rate, of.reg.p);
    if (!of.cosine()) p[user * f] = 1;
  }

  void step(double* to, const std::vector<double>& by, double rate, double reg) const {
    for (std::int64_t k = 0; k < f; ++k) to[k] += rate * (by[k] - reg * to[k]);
  }

  double cosine(std::int32_t user, std::int32_t item) const {
    double pp = 0, qq = 0;
    for (std::int64_t k = 0; k < f; ++k) {
      pp += p[user * f + k] * p[user * f + k];
      qq += q[item * f + k] * q[item * f + k];
    }
    return score(user, item) / std::sqrt(pp * qq);
  }

  // Derivatives of weight cos(p_u, q) by central differences: q's is returned, p_u's added.
  std::vector<double> of_item(std::int32_t user, std::int32_t item, std::vector<double>& by_user,
                              double weight) {
    constexpr double kStep = 1e-6;
    const auto slope = [&](double& x) {
      const double at = x;
      x = at + kStep;
      const double above = cosine(user, item);
      x = at - kStep;
      const double below = cosine(user, item);
      x = at;
      return weight * (above - below) / (2 * kStep);
    };
    std::vector<double> by_row;
    for (std::int64_t k = 0; k < f; ++k) by_row.push_back(slope(q[item * f + k]));
    for (std::int64_t k = 0; k < f; ++k) by_user[k] += slope(p[user * f + k]);
    return by_row;
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
