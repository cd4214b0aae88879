// Small matrices, and SGD in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/core/sgd/sgd_rule.hpp"
#include "algorithms/sgd_cpu/block_grid.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "datasets/ratings/ratings.hpp"
#include "testing/models.hpp"
#include "testing/trainer.hpp"
#include "testing/triples.hpp"

namespace mf::sgd_cpu::test {

using mf::test::normals;
using mf::test::ratings_of;

// About `density` of all pairs, some items far more popular than others, rated by a planted biased
// model of rank 3 with noise of standard deviation 0.1.
inline Ratings planted(std::int32_t users, std::int32_t items, double density, std::uint64_t seed) {
  Rng rng(seed);
  const auto p = normals(rng, users * 3, 0.7);
  const auto q = normals(rng, items * 3, 0.7);
  const auto b = normals(rng, users, 0.3);
  const auto c = normals(rng, items, 0.3);
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      const double popularity = i % 10 == 0 ? 4 : 0.7;
      if (rng.uniform() >= density * popularity) continue;
      double value = 3.5 + b[u] + c[i] + 0.1 * rng.normal();
      for (std::int32_t k = 0; k < 3; ++k) value += p[u * 3 + k] * q[i * 3 + k];
      list.push_back({u, i, static_cast<float>(value)});
    }
  }
  return ratings_of(users, items, list);
}

// The rule of algorithms/core in double precision, on packed rows.
struct Reference {
  sgd::Step<double> step;
  std::int64_t f;
  std::vector<double> p, q, user_bias, item_bias;

  Reference(const Model& m, double rate, const Regularizers& r)
      : step(step_at<double>(rate, r, m.mean)),
        f(m.factors),
        p(m.p.begin(), m.p.end()),
        q(m.q.begin(), m.q.end()),
        user_bias(m.user_bias.begin(), m.user_bias.end()),
        item_bias(m.item_bias.begin(), m.item_bias.end()) {}
  Reference(const Model& m, double rate, double r) : Reference(m, rate, Regularizers{r, r, r, r}) {}

  void update(const Rating& r) {
    const bool biased = !user_bias.empty();
    sgd::update(step, static_cast<double>(r.value), p.data() + r.user * f, q.data() + r.item * f,
                static_cast<std::int32_t>(f), biased ? &user_bias[r.user] : nullptr,
                biased ? &item_bias[r.item] : nullptr);
  }
};

// A block of the grid, in its order.
inline void update_block(Reference& reference, const BlockGrid& grid, const Block& block) {
  const RowRating* rating = grid.ratings_of(block);
  for (std::int64_t r = 0; r < block.runs; ++r) {
    const Run run = grid.runs_of(block)[r];
    for (std::int32_t k = 0; k < run.count; ++k, ++rating) {
      reference.update(
          {grid.user_of_row()[run.user], grid.item_of_row()[rating->other], rating->value});
    }
  }
}

inline double train_rmse(const FactorView& view, const Ratings& ratings) {
  return ratings.nnz() == 0 ? 0 : mf::test::rmse(copy_model(view), ratings);
}

using mf::test::largest_difference;

// For any number of the two models.
inline double largest_difference(const Model& a, const Reference& b) {
  return std::max({largest_difference(a.p, b.p), largest_difference(a.q, b.q),
                   largest_difference(a.user_bias, b.user_bias),
                   largest_difference(a.item_bias, b.item_bias)});
}

inline Model initial_for(const Ratings& train, const Params& params, std::uint64_t seed = 1) {
  InitSpec init;
  init.seed = seed;
  return initial_model(train.n_users(), train.n_items(),
                       static_cast<std::int32_t>(params.integer("factors")),
                       params.choice("model", kModelKinds), mean_rating(train), init, 1);
}

struct Trainer : mf::test::Trainer {
  Trainer(const std::string& name, const Json& changes, const Ratings& ratings, int threads = 1,
          std::uint64_t seed = 1)
      : mf::test::Trainer(
            name, changes, ratings,
            [seed](const Ratings& of, const Params& own) { return initial_for(of, own, seed); },
            threads, seed),
        train(ratings) {}
  void run(std::int64_t epochs, double rate = 0.01) { mf::test::Trainer::run(epochs, rate); }
  double rmse() { return train_rmse(algorithm->factors(), train); }

  const Ratings& train;
};

inline bool same_bits(const Model& a, const Model& b) {
  return a.p == b.p && a.q == b.q && a.user_bias == b.user_bias && a.item_bias == b.item_bias;
}

}  // namespace mf::sgd_cpu::test
