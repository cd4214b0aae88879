#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"

namespace mf {
namespace {

// Uneven, and with an empty user (0) and an empty item (1): they are known, but every rating of
// theirs is left out, as a split may do.
Ratings some_ratings(std::int32_t users, std::int32_t items) {
  Rng rng(7);
  RawRatings raw;
  for (std::int32_t u = 0; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      const bool first = u == 0 && i == 1;
      if (!first && rng.uniform() > 1.5 / (1 + i)) continue;
      raw.users.push_back(u);
      raw.items.push_back(i);
      raw.values.push_back(static_cast<float>(1 + rng.below(5)));
    }
  }
  const Ratings all = make_ratings(std::move(raw), DuplicatePolicy::error, 1, "test");
  AlignedVector<std::uint8_t> label(all.nnz(), 0);
  for (std::int64_t k = 0; k < all.nnz(); ++k) {
    if (all[k].user == 0 || all[k].item == 1) label[k] = 1;
  }
  return select(all, label, 0, 1);
}

struct Solver {
  explicit Solver(const Ratings& ratings, int threads = 1, double reg = 2)
      : train(ratings), team(threads) {
    const Params params = default_params(find_algorithm("bias_only").params,
                                         Json{{"reg_user_bias", reg}, {"reg_item_bias", reg}});
    algorithm = make_algorithm("bias_only", params);
    context.team = &team;
    algorithm->prepare(train,
                       initial_model(train.n_users(), train.n_items(), 1, ModelKind::biased,
                                     mean_rating(train), InitSpec{}, 1),
                       context);
  }
  void epochs(int count) {
    for (int e = 0; e < count; ++e) updates += algorithm->run_epoch({++epoch, 0}, context);
  }
  Model model() { return copy_model(algorithm->factors()); }

  const Ratings& train;
  ThreadTeam team;
  Context context;
  std::unique_ptr<Algorithm> algorithm;
  std::int64_t epoch = 0;
  std::int64_t updates = 0;
};

// Half the gradient of the objective by every bias, from its definition.
struct Gradient {
  std::vector<double> user, item;
  Gradient(const Ratings& train, const Model& m, double reg)
      : user(m.user_bias.begin(), m.user_bias.end()), item(m.item_bias.begin(), m.item_bias.end()) {
    for (double& g : user) g *= reg;
    for (double& g : item) g *= reg;
    for (std::int64_t k = 0; k < train.nnz(); ++k) {
      const auto [u, i, value] = train[k];
      const double error = value - m.mean - m.user_bias[u] - m.item_bias[i];
      user[u] -= error;
      item[i] -= error;
    }
  }
};

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

TEST(BiasOnly, EachHalfStepSolvesItsSideExactly) {
  const Ratings train = some_ratings(60, 37);
  Solver solver(train);
  solver.context.stop_requested = [] { return true; };  // after the users
  solver.epochs(1);
  EXPECT_LT(largest(Gradient(train, solver.model(), 2).user), 1e-4);
  EXPECT_GT(largest(Gradient(train, solver.model(), 2).item), 1);
  solver.context.stop_requested = nullptr;
  solver.epochs(1);
  EXPECT_LT(largest(Gradient(train, solver.model(), 2).item), 1e-4);
}

TEST(BiasOnly, ConvergesToTheMinimum) {
  const Ratings train = some_ratings(60, 37);
  Solver solver(train);
  solver.epochs(50);
  const Gradient gradient(train, solver.model(), 2);
  EXPECT_LT(largest(gradient.user), 1e-4);
  EXPECT_LT(largest(gradient.item), 1e-4);
}

TEST(BiasOnly, ThreadsDoNotChangeTheResult) {
  const Ratings train = some_ratings(3001, 515);  // several chunks, the last one short
  Solver one(train, 1);
  Solver three(train, 3);
  one.epochs(3);
  three.epochs(3);
  EXPECT_EQ(one.model().user_bias, three.model().user_bias);
  EXPECT_EQ(one.model().item_bias, three.model().item_bias);
}

TEST(BiasOnly, RowsWithoutRatingsStayAtZeroEvenWithoutRegularizer) {
  const Ratings train = some_ratings(20, 9);
  Solver solver(train, 1, 0);
  solver.epochs(2);
  EXPECT_EQ(solver.model().user_bias[0], 0.0F);
  EXPECT_EQ(solver.model().item_bias[1], 0.0F);
  EXPECT_NE(solver.model().user_bias[1], 0.0F);
}

TEST(BiasOnly, CountsTheRatingsOfBothHalfSteps) {
  const Ratings train = some_ratings(20, 9);
  Solver solver(train);
  solver.epochs(3);
  EXPECT_EQ(solver.updates, 3 * 2 * train.nnz());
  EXPECT_EQ(solver.algorithm->work_per_epoch().updates, 2.0 * static_cast<double>(train.nnz()));
}

}  // namespace
}  // namespace mf
