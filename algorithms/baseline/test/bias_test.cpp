#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "testing/models.hpp"
#include "testing/trainer.hpp"
#include "testing/triples.hpp"

namespace mf::test {
namespace {

Model biased_start(const Ratings& train, const Params&) {
  return initial_model(train.n_users(), train.n_items(), 1, ModelKind::biased, mean_rating(train),
                       InitSpec{}, 1);
}

Json regs(double user, double item) { return {{"reg_user", user}, {"reg_item", item}}; }

// User 0 and item 1 have no rating; several chunks of rows.
Ratings some_ratings() { return planted(601, 303, .05, 5, 1, .3); }

// Half the derivative of the objective by every bias, from the objective.
struct Gradient {
  std::vector<double> user, item;
  Gradient(const Ratings& train, const Model& m, double reg_user, double reg_item) {
    for (const float b : m.user_bias) user.push_back(reg_user * b);
    for (const float c : m.item_bias) item.push_back(reg_item * c);
    for (std::int64_t k = 0; k < train.nnz(); ++k) {
      const Rating r = train[k];
      const double error = r.value - m.mean - m.user_bias[r.user] - m.item_bias[r.item];
      user[r.user] -= error;
      item[r.item] -= error;
    }
  }
};

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

TEST(Bias, ThePassIsTheTwoStepsOfThePaper) {
  const Ratings train = ratings_of(3, 2, {{0, 0, 5}, {0, 1, 1}, {1, 0, 3}});  // mu = 3
  Trainer bias("bias", regs(1, 2), train, biased_start);
  bias.run(1);
  EXPECT_EQ(bias.updates, 6);
  const Model model = bias.model();
  EXPECT_FLOAT_EQ(model.item_bias[0], 2.0F / 4);        // (2 + 0) / (2 + 2)
  EXPECT_FLOAT_EQ(model.item_bias[1], -2.0F / 3);       // -2 / (2 + 1)
  EXPECT_FLOAT_EQ(model.user_bias[0], (1.0F / 6) / 3);  // (2 - .5 - 2 + 2/3) / (1 + 2)
  EXPECT_FLOAT_EQ(model.user_bias[1], -.5F / 2);
  EXPECT_EQ(model.user_bias[2], 0.0F);
}

TEST(Bias, FallsToTheMinimumOfTheObjective) {
  const Ratings train = some_ratings();
  Trainer bias("bias", regs(3, 7), train, biased_start);
  bias.run(1);
  EXPECT_GT(largest(Gradient(train, bias.model(), 3, 7).item), 1);
  bias.run(60);
  const Gradient gradient(train, bias.model(), 3, 7);
  EXPECT_LT(largest(gradient.user), 1e-3);
  EXPECT_LT(largest(gradient.item), 1e-3);
}

TEST(Bias, ThreadsDoNotChangeTheResult) {
  const Ratings train = some_ratings();
  Trainer one("bias", Json::object(), train, biased_start, 1);
  Trainer three("bias", Json::object(), train, biased_start, 3);
  one.run(3);
  three.run(3);
  expect_same(one.model(), three.model());
}

TEST(Bias, RowsWithoutRatingsStayAtZeroWithoutRegularizer) {
  const Ratings train = some_ratings();
  Trainer bias("bias", regs(0, 0), train, biased_start);
  bias.run(2);
  EXPECT_EQ(bias.model().user_bias[0], 0.0F);
  EXPECT_EQ(bias.model().item_bias[1], 0.0F);
}

}  // namespace
}  // namespace mf::test
