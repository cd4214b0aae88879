// SVD++ as the paper has it, in double: each rating moves every y_j of its user.
#pragma once

#include <cmath>
#include <vector>

#include "algorithms/core/random.hpp"
#include "algorithms/svdpp/svdpp.hpp"
#include "base/json/json.hpp"
#include "testing/models.hpp"
#include "testing/trainer.hpp"
#include "testing/triples.hpp"

namespace mf::svdpp::test {

inline Model start(const Ratings& train, const Params& params) {
  return model_to_make(train.n_users(), train.n_items(),
                       static_cast<std::int32_t>(params.integer("factors")), ModelKind::biased,
                       mean_rating(train), {InitKind::normal, 0.1, 5});
}

struct Reference {
  using Numbers = std::vector<double>;

  Reference(const Ratings& ratings, const Params& params)
      : train(ratings), f(params.integer("factors")) {
    ThreadTeam team(1);
    Model model = start(train, params), first = first_y(model);
    make_rows(model, team);
    make_rows(first, team);
    mean = model.mean;
    p.assign(model.p.begin(), model.p.end());
    q.assign(model.q.begin(), model.q.end());
    y.assign(first.q.begin(), first.q.end());
    b.resize(train.n_users());
    c.resize(train.n_items());
    const auto reg = [&](const char* name) {
      return params.number(name) < 0 ? params.number("reg") : params.number(name);
    };
    reg_p = reg("reg_p"), reg_q = reg("reg_q"), reg_y = reg("reg_y");
    reg_b = reg("reg_user_bias"), reg_c = reg("reg_item_bias");
  }

  std::int64_t begin(std::int64_t u) const { return train.user_offsets()[u]; }
  std::int64_t end(std::int64_t u) const { return train.user_offsets()[u + 1]; }

  // Element k of p_u + z_u.
  double row(std::int64_t u, std::int64_t k) const {
    double sum = 0;
    for (auto at = begin(u); at < end(u); ++at) sum += y[train.items()[at] * f + k];
    return p[u * f + k] + (sum == 0 ? 0 : sum / std::sqrt(end(u) - begin(u)));
  }
  Numbers rows() const {
    Numbers all(p.size());
    for (std::int64_t at = 0; at < std::ssize(p); ++at) all[at] = row(at / f, at % f);
    return all;
  }

  double error(const Rating& r) const {
    double e = r.value - (mean + b[r.user] + c[r.item]);
    for (std::int64_t k = 0; k < f; ++k) e -= q[r.item * f + k] * row(r.user, k);
    return e;
  }

  // Half of the squared error and of the regularizers that a rating's update lowers.
  double loss(const Rating& r) const {
    double sum =
        std::pow(error(r), 2) + reg_b * std::pow(b[r.user], 2) + reg_c * std::pow(c[r.item], 2);
    for (std::int64_t k = 0; k < f; ++k) {
      sum += reg_p * std::pow(p[r.user * f + k], 2) + reg_q * std::pow(q[r.item * f + k], 2);
      for (auto at = begin(r.user); at < end(r.user); ++at) {
        sum += reg_y * std::pow(y[train.items()[at] * f + k], 2);
      }
    }
    return sum / 2;
  }

  void update(const Rating& r, double rate) {
    const double e = error(r), share = 1 / std::sqrt(end(r.user) - begin(r.user));
    for (std::int64_t k = 0; k < f; ++k) {
      const double q_old = q[r.item * f + k], user = row(r.user, k);
      double& own = p[r.user * f + k];
      own += rate * (e * q_old - reg_p * own);
      q[r.item * f + k] += rate * (e * user - reg_q * q_old);
      for (auto at = begin(r.user); at < end(r.user); ++at) {
        double& of_item = y[train.items()[at] * f + k];
        of_item += rate * (e * share * q_old - reg_y * of_item);
      }
    }
    b[r.user] += rate * (e - reg_b * b[r.user]);
    c[r.item] += rate * (e - reg_c * c[r.item]);
  }

  void run(std::uint64_t seed, std::int64_t epoch, double rate) {
    const Permutation order = epoch_order(train.n_users(), seed, epoch);
    for (std::int64_t turn = 0; turn < train.n_users(); ++turn) {
      const std::int64_t u = order(turn);
      for (auto at = begin(u); at < end(u); ++at) update(train[at], rate);
    }
  }

  const Ratings& train;
  std::int64_t f;
  double mean = 0, reg_p = 0, reg_q = 0, reg_y = 0, reg_b = 0, reg_c = 0;
  Numbers p, q, y, b, c;
};

using mf::test::largest_difference;

inline double largest_difference(const Model& a, const Reference& b) {
  return std::max({largest_difference(a.p, b.rows()), largest_difference(a.q, b.q),
                   largest_difference(a.user_bias, b.b), largest_difference(a.item_bias, b.c)});
}

}  // namespace mf::svdpp::test
