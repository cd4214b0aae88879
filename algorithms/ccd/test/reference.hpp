// CCD++ in double precision, written only from the equations of the paper, and matrices for it.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/ccd/settings.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "testing/trainer.hpp"
#include "testing/triples.hpp"

namespace mf::ccd::test {

using mf::test::ratings_of;

// P and Q by factors: p[k][u], q[k][i].
struct Reference {
  const Ratings& train;
  Settings settings;
  std::vector<std::vector<double>> p, q;
  std::vector<double> r;  // the residual of each rating

  Reference(const Ratings& ratings, const Settings& what, const Model& initial)
      : train(ratings), settings(what) {
    for (std::int32_t k = 0; k < settings.factors; ++k) {
      p.emplace_back();
      q.emplace_back();
      for (std::int64_t u = 0; u < train.n_users(); ++u) {
        const double x = initial.p[u * settings.factors + k];
        p[k].push_back(settings.start == Start::zero ? 0.0 : x);
      }
      for (std::int64_t i = 0; i < train.n_items(); ++i) {
        q[k].push_back(initial.q[i * settings.factors + k]);
      }
    }
    for (std::int64_t at = 0; at < train.nnz(); ++at) r.push_back(exact_residual(at));
  }

  double exact_residual(std::int64_t at) const {
    const Rating rating = train[at];
    double e = rating.value;
    for (std::size_t k = 0; k < p.size(); ++k) e -= p[k][rating.user] * q[k][rating.item];
    return e;
  }

  double lambda(std::int64_t ratings) const {
    const double n = settings.reg_scale == RegScale::rows ? static_cast<double>(ratings) : 1.0;
    return settings.reg * n;
  }

  // x_a = sum R^ y_b / (lambda_a + sum y_b^2) over the ratings of a.
  void solve(std::vector<double>& x, const std::vector<double>& y, bool users) {
    std::vector<double> top(x.size()), bottom(x.size());
    std::vector<std::int64_t> count(x.size());
    for (std::int64_t at = 0; at < train.nnz(); ++at) {
      const std::int32_t a = users ? train[at].user : train[at].item;
      const double b = y[users ? train[at].item : train[at].user];
      top[a] += r[at] * b;
      bottom[a] += b * b;
      ++count[a];
    }
    for (std::size_t a = 0; a < x.size(); ++a) {
      const double whole = bottom[a] + lambda(count[a]);
      x[a] = whole > 0 ? top[a] / whole : 0;
    }
  }

  void add(std::size_t k, double sign) {
    for (std::int64_t at = 0; at < train.nnz(); ++at) {
      r[at] += sign * p[k][train[at].user] * q[k][train[at].item];
    }
  }

  void epoch() {
    for (std::size_t k = 0; k < p.size(); ++k) {
      add(k, 1);
      for (int t = 0; t < settings.sweep.inner; ++t) {
        solve(p[k], q[k], true);
        solve(q[k], p[k], false);
      }
      add(k, -1);
    }
  }
};

// Largest difference of a model from the reference.
inline double furthest(const Model& model, const Reference& reference) {
  double most = 0;
  const std::int64_t f = reference.settings.factors;
  const auto compare = [&](const AlignedVector<float>& rows,
                           const std::vector<std::vector<double>>& by_factor) {
    for (std::int64_t at = 0; at < std::ssize(rows); ++at) {
      const double gap = std::abs(rows[at] - by_factor[at % f][at / f]);
      if (!(gap <= most)) most = gap;  // not a number, too
    }
  };
  compare(model.p, reference.p);
  compare(model.q, reference.q);
  return most;
}

// The objective of CCD++, in double.
inline double objective(const Ratings& train, const Settings& settings, const Model& model) {
  Settings from_model = settings;
  from_model.start = Start::model;
  const Reference at(train, from_model, model);
  double sum = 0;
  std::vector<std::int64_t> by_user(train.n_users()), by_item(train.n_items());
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    sum += at.r[k] * at.r[k];
    ++by_user[train[k].user];
    ++by_item[train[k].item];
  }
  for (std::int32_t k = 0; k < settings.factors; ++k) {
    for (std::size_t u = 0; u < by_user.size(); ++u) {
      sum += at.lambda(by_user[u]) * at.p[k][u] * at.p[k][u];
    }
    for (std::size_t i = 0; i < by_item.size(); ++i) {
      sum += at.lambda(by_item[i]) * at.q[k][i] * at.q[k][i];
    }
  }
  return sum;
}

inline Ratings planted(std::int32_t users, std::int32_t items, double density, std::uint64_t seed) {
  return mf::test::planted(users, items, density, seed, 0.6, 0.1);
}

inline Model start_for(const Ratings& train, std::int32_t factors) {
  return mf::test::uniform_start(train, factors);
}

// The paper's settings (the defaults of `ccd++`) with these changes.
inline Json papers(const Json& changes) {
  Json all = {{"center", "none"}, {"reg", 0.05}, {"start", "model"}};
  all.update(changes);
  return all;
}

inline Params params_of(const std::string& name, const Json& changes) {
  return default_params(find_algorithm(name).params, papers(changes));
}

}  // namespace mf::ccd::test
