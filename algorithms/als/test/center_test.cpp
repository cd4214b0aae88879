// Centers and the two sides of R.
#include "algorithms/als/center.hpp"

#include <gtest/gtest.h>

#include <map>

#include "algorithms/als/sides.hpp"
#include "algorithms/als/test/reference.hpp"

namespace mf::als {
namespace {

using test::planted;
using test::ratings_of;

Center center_of(CenterKind kind, const Ratings& train, RowReg reg, ThreadTeam& team) {
  return make_center(kind, train, make_csc(train, team.size()), reg, team);
}

TEST(Center, NoneIsThePlainModel) {
  ThreadTeam team(2);
  const Center center = center_of(CenterKind::none, planted(20, 15, 0.3, 1), 0.1, team);
  EXPECT_EQ(center.mean, 0);
  EXPECT_TRUE(center.user_bias.empty());
  EXPECT_TRUE(center.item_bias.empty());
  EXPECT_EQ(center.residual(3, 4, 2.5F), 2.5F);
}

TEST(Center, MeanHasBiasesOfZero) {
  ThreadTeam team(2);
  const Ratings train = ratings_of(3, 2, {{0, 0, 1}, {0, 1, 2}, {2, 0, 6}});
  const Center center = center_of(CenterKind::mean, train, 0.1, team);
  EXPECT_DOUBLE_EQ(center.mean, 3);
  EXPECT_EQ(center.user_bias, AlignedVector<float>({0, 0, 0}));
  EXPECT_EQ(center.item_bias, AlignedVector<float>({0, 0}));
  EXPECT_FLOAT_EQ(center.residual(2, 0, 6), 3);
}

// The objective's gradient, written from its definition, is zero; a mean of the biases instead of
// the shrunk one, or a wrong number of ratings, is not.
class CenterPower : public testing::TestWithParam<std::pair<double, double>> {};

TEST_P(CenterPower, BiasesMinimizeTheirObjective) {
  ThreadTeam team(3);
  const Ratings train = planted(70, 40, 0.3, 2);
  const auto [reg, power] = GetParam();
  const Center center = center_of(CenterKind::biases, train, {reg, power}, team);
  AlignedVector<double> user_count(70, 0.0), item_count(40, 0.0);
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    ++user_count[train[k].user];
    ++item_count[train[k].item];
  }
  EXPECT_NEAR(center.mean, mean_rating(train), 1e-12);
  AlignedVector<double> user(70, 0.0), item(40, 0.0);
  double largest = 0;
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    const Rating r = train[k];
    const float b = center.user_bias[r.user];
    const float c = center.item_bias[r.item];
    const double error = r.value - center.mean - b - c;
    // Once a rating: n_u^power in all.
    user[r.user] += reg * b * std::pow(user_count[r.user], power - 1) - error;
    item[r.item] += reg * c * std::pow(item_count[r.item], power - 1) - error;
    largest = std::max(largest, std::abs(error));
  }
  EXPECT_GT(largest, 0.5);
  for (const double g : user) EXPECT_NEAR(g, 0, 1e-3);
  for (const double g : item) EXPECT_NEAR(g, 0, 1e-3);
  EXPECT_EQ(center.user_bias[0], 0.0F);  // no ratings
  EXPECT_EQ(center.item_bias[1], 0.0F);
  EXPECT_NE(center.user_bias[1], 0.0F);
}

INSTANTIATE_TEST_SUITE_P(Powers, CenterPower,
                         testing::Values(std::pair(20.0, 0.0), std::pair(1.0, 0.5),
                                         std::pair(0.2, 1.0)));

TEST(Center, ThreadsDoNotChangeIt) {
  const Ratings train = planted(500, 90, 0.2, 3);
  ThreadTeam one(1);
  ThreadTeam four(4);
  const Center a = center_of(CenterKind::biases, train, 0.05, one);
  const Center b = center_of(CenterKind::biases, train, 0.05, four);
  EXPECT_EQ(a.user_bias, b.user_bias);
  EXPECT_EQ(a.item_bias, b.item_bias);
}

TEST(Sides, WithoutACenterTheUsersAreTheRatingsThemselves) {
  ThreadTeam team(2);
  const Ratings train = planted(30, 20, 0.3, 4);
  const Sides sides = test::plain_sides(train, team);
  EXPECT_EQ(sides.users().values.data(), train.values().data());
  EXPECT_EQ(sides.users().others.data(), train.items().data());
  EXPECT_EQ(sides.users().offsets.data(), train.user_offsets().data());
  EXPECT_EQ(sides.users().rows(), 30);
  EXPECT_EQ(sides.items().rows(), 20);
  EXPECT_EQ(sides.items().nnz(), train.nnz());
}

TEST(Sides, BothSidesHaveTheSameResiduals) {
  ThreadTeam team(3);
  const Ratings train = planted(60, 25, 0.3, 5);
  for (const CenterKind kind : {CenterKind::none, CenterKind::mean, CenterKind::biases}) {
    const Sides sides(train, kind, 0.1, team);
    const Center& center = sides.center();
    EXPECT_EQ(center.kind, kind);
    std::map<std::pair<std::int32_t, std::int32_t>, float> expected;
    for (std::int64_t k = 0; k < train.nnz(); ++k) {
      const Rating r = train[k];
      double value = static_cast<double>(r.value) - center.mean;
      if (kind != CenterKind::none) {
        value -= center.user_bias[r.user];
        value -= center.item_bias[r.item];
      }
      expected[{r.user, r.item}] = static_cast<float>(value);
    }
    const auto check = [&](const Side& side, bool of_users) {
      ASSERT_EQ(side.nnz(), train.nnz());
      for (std::int32_t row = 0; row < side.rows(); ++row) {
        for (std::int64_t k = side.offsets[row]; k < side.offsets[row + 1]; ++k) {
          const std::pair<std::int32_t, std::int32_t> at =
              of_users ? std::pair{row, side.others[k]} : std::pair{side.others[k], row};
          ASSERT_TRUE(expected.count(at)) << at.first << " " << at.second;
          EXPECT_NEAR(side.values[k], expected[at], 2e-6);
        }
      }
    };
    check(sides.users(), true);
    check(sides.items(), false);
  }
}

}  // namespace
}  // namespace mf::als
