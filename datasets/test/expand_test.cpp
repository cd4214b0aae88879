// Real sets enlarged: the kept and the drawn ratings, and that plan foresees the shape.
#include "datasets/expand/expand.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/threads.hpp"
#include "datasets/expand/block_shares.hpp"
#include "datasets/expand/kept_pairs.hpp"
#include "datasets/expand/taste_sample.hpp"
#include "datasets/expand/user_habits.hpp"
#include "testing/real_data.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

constexpr std::int32_t kUsers = 60, kItems = 40;

// A long tail of users and items, two kinds of users, half stars; the last user rates one item
// only, which no other user does.
Dataset small_set() {
  RawRatings raw;
  Rng rng(5);
  const auto add = [&](int u, int i, double value) {
    raw.users.push_back(10 * u);
    raw.items.push_back(7 * i);
    raw.values.push_back(static_cast<float>(std::clamp(std::round(2 * value) / 2, 0.5, 5.0)));
  };
  for (int u = 0; u + 1 < kUsers; ++u) {
    for (int i = 0; i + 1 < kItems; ++i) {
      if (i != u % 3 && rng.uniform() * (1 + u) * (1 + i) > 60) continue;
      add(u, i, 3 + ((u + i) % 2 == 0 ? 1.2 : -1.2) + 0.4 * rng.normal());
    }
  }
  add(kUsers - 1, kItems - 1, 0.5);
  Dataset data;
  data.ratings = make_ratings(std::move(raw), DuplicatePolicy::error, 1, "small");
  data.info.name = "small";
  data.info.scale = RatingScale{0.5F, 5.0F, 0.5F};
  return data;
}

Shape shape_of(const Ratings& r) { return {r.n_users(), r.n_items(), r.nnz()}; }

std::vector<std::int64_t> item_counts(const Ratings& r) {
  std::vector<std::int64_t> counts(r.n_items(), 0);
  for (const std::int32_t i : r.items()) ++counts[i];
  return counts;
}

std::int64_t smallest_user(const Ratings& r) {
  std::int64_t least = r.nnz();
  for (std::int64_t u = 0; u < r.n_users(); ++u) {
    least = std::min(least, r.user_offsets()[u + 1] - r.user_offsets()[u]);
  }
  return least;
}

// All that holds of any expansion.
void check_matrix(const Dataset& base, const Expansion& how, const Dataset& made) {
  const Ratings& r = made.ratings;
  const Shape wanted = expanded_shape(shape_of(base.ratings), how);
  ASSERT_EQ(r.n_users(), wanted.n_users);
  ASSERT_EQ(r.n_items(), wanted.n_items);
  ASSERT_EQ(r.nnz(), wanted.nnz);
  ASSERT_EQ(r.user_offsets()[r.n_users()], r.nnz());
  for (std::int64_t u = 0; u < r.n_users(); ++u) {
    ASSERT_LT(r.user_offsets()[u], r.user_offsets()[u + 1]) << u;
    for (std::int64_t k = r.user_offsets()[u]; k < r.user_offsets()[u + 1]; ++k) {
      ASSERT_EQ(r.users()[k], u);
      if (k == r.user_offsets()[u]) continue;
      ASSERT_LT(r.items()[k - 1], r.items()[k]);  // no pair twice
    }
  }
  EXPECT_GE(std::ranges::min(item_counts(r)), 1);
  std::set<float> known(base.ratings.values().begin(), base.ratings.values().end());
  EXPECT_TRUE(std::ranges::all_of(r.values(), [&](float v) { return known.contains(v); }));
  for (std::int64_t u = 0; u < r.n_users(); ++u) ASSERT_EQ(r.user_ids()[u], u + 1);
  for (std::int64_t i = 0; i < r.n_items(); ++i) ASSERT_EQ(r.item_ids()[i], i + 1);
  EXPECT_TRUE(made.info.look_alike);
  EXPECT_EQ(made.info.source, "expanded");
}

TEST(Expand, KeepsItsPromisesAtEverySize) {
  const Dataset base = small_set();
  ASSERT_EQ(base.ratings.n_users(), kUsers);
  ASSERT_EQ(base.ratings.n_items(), kItems);
  for (const auto& [users, items] :
       std::vector<std::pair<int, int>>{{1, 1}, {1, 40}, {60, 1}, {2, 2}, {7, 3}, {60, 40}}) {
    SCOPED_TRACE(testing::Message() << users << " x " << items);
    const Expansion how{users, items, 3};
    check_matrix(base, how, make_expansion(base, how, 2));
  }
}

TEST(Expand, TheSameForAnyNumberOfThreadsAndAnotherForAnotherSeed) {
  const Dataset base = small_set();
  const auto hash = [&](std::uint64_t seed, int threads) {
    return make_expansion(base, {5, 3, seed}, threads).info.content_hash;
  };
  const std::uint64_t one = hash(1, 1);
  EXPECT_EQ(hash(1, 3), one);
  EXPECT_EQ(hash(1, 8), one);
  EXPECT_NE(hash(2, 1), one);
}

TEST(Expand, KeepsTheMeanAndTheSpread) {
  const Dataset base = small_set();
  const Dataset made = make_expansion(base, {10, 2, 1}, 2);
  const auto sd = [](const Ratings& r) {
    double sum = 0, squares = 0;
    for (const float v : r.values()) {
      sum += static_cast<double>(v);
      squares += static_cast<double>(v) * static_cast<double>(v);
    }
    const auto n = static_cast<double>(r.nnz());
    return std::sqrt(squares / n - sum / n * sum / n);
  };
  EXPECT_NEAR(sd(made.ratings), sd(base.ratings), 0.08);
  EXPECT_NEAR(mean_rating(made.ratings), mean_rating(base.ratings), 0.15);
}

TEST(Expand, CopiesOfARatingHaveNoiseOfTheirOwn) {
  const Dataset base = small_set();
  ThreadTeam team(1);
  const expand::TasteSample tastes = expand::draw_tastes(base.ratings, 1, team);
  const expand::UserHabits habits(base.ratings, tastes, 0);
  Rng rng(9);
  std::vector<double> likings;
  std::set<double> first;
  std::set<float> values;
  for (int copy = 0; copy < 50; ++copy) {
    habits.draw_likings(rng, likings);
    first.insert(likings[0]);
    values.insert(habits.draw_value(likings[0], rng));
  }
  EXPECT_EQ(first.size(), 50U);
  EXPECT_GE(values.size(), 2U);
}

TEST(Expand, WarnsOfASetWhoseMedianUserHasFewRatings) {
  const auto said_of = [](int users_of_ten) {
    RawRatings raw;
    for (int u = 0; u < 5; ++u) {
      for (int i = 0; i < (u < users_of_ten ? 10 : 9); ++i) {
        raw.users.push_back(u);
        raw.items.push_back(i);
        raw.values.push_back(1 + static_cast<float>((u + i) % 5));
      }
    }
    Dataset base;
    base.ratings = make_ratings(std::move(raw), DuplicatePolicy::error, 1, "few");
    base.info.scale = RatingScale{1, 5, 1};
    testing::internal::CaptureStderr();
    make_expansion(base, {2, 2, 1}, 1);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said_of(3), "");
  EXPECT_NE(said_of(2).find("median user has fewer than 10 ratings"), std::string::npos);
}

TEST(Expand, ShapesAreForeseenAndRefused) {
  const Shape ml_1m{6040, 3706, 1000209};
  const Shape large = expanded_shape(ml_1m, {80, 5});
  EXPECT_EQ(large.n_users, 483200);
  EXPECT_EQ(large.n_items, 18530);
  EXPECT_NEAR(static_cast<double>(large.nnz), 100.7e6, 0.1e6);
  EXPECT_EQ(expanded_shape(ml_1m, {1, 1}).nnz, 1000209);
  // One rating of each user and item at least, and no more than there are pairs.
  EXPECT_EQ(expanded_shape({10, 10, 10}, {1, 10}).nnz, 100);
  EXPECT_EQ(expanded_shape({10, 5, 12}, {10, 5}).nnz, 151);
  const auto message = [&](const Expansion& how) {
    return std::string(test::error_of([&] { expanded_shape(ml_1m, how); }).what());
  };
  EXPECT_HAS(message({0, 1}), "found 0 times the users, expected 1 to 6040");
  EXPECT_HAS(message({1, 3707}), "found 3707 times the items, expected 1 to 3706");
  EXPECT_HAS(std::string(test::error_of([&] {
                           expanded_shape({500'000, 10, 1'000'000}, {5000, 1});
                         }).what()),
             "more than can be indexed");
}

TEST(BlockShares, HaveTheMeanAndFollowTheRatings) {
  const Dataset base = small_set();
  for (const double mean : {0.05, 0.3, 0.9, 1.0}) {
    const expand::BlockShares shares(base.ratings, 4, 3, mean);
    double sum = 0;
    for (std::int64_t a = 0; a < 4; ++a) {
      for (std::int64_t b = 0; b < 3; ++b) {
        EXPECT_GT(shares.at(a, b), 0);
        EXPECT_LE(shares.at(a, b), 1);
        sum += shares.at(a, b);
      }
    }
    EXPECT_NEAR(sum / 12, mean, 1e-6);
    EXPECT_GE(shares.at(0, 0), shares.at(3, 2));
    EXPECT_GE(shares.row_sum(0), shares.row_sum(3));
  }
}

TEST(KeptPairs, AreCountedExactly) {
  const Dataset base = small_set();
  const Ratings& r = base.ratings;
  const std::int64_t all = 5 * 4 * r.nnz();
  for (const std::int64_t nnz : {std::int64_t{5 * kUsers + 4 * kItems}, all / 3, all - 1, all}) {
    const expand::BlockShares shares(r, 5, 4, static_cast<double>(nnz) / static_cast<double>(all));
    const expand::KeptPairs kept(r, shares, nnz, 1);
    std::int64_t total = 0;
    for (std::int64_t u = 0; u < r.n_users(); ++u) {
      const std::int64_t degree = r.user_offsets()[u + 1] - r.user_offsets()[u];
      for (std::int64_t a = 0; a < 5; ++a) {
        std::int64_t of_copy = 0;
        for (const std::int64_t count : kept.count_by_block(u, a)) {
          ASSERT_LE(count, degree);
          of_copy += count;
        }
        ASSERT_EQ(of_copy, kept.count(u, a));
        ASSERT_GE(of_copy, 1);
        total += of_copy;
      }
    }
    EXPECT_EQ(total, nnz);
  }
}

// 4 x 2, as experiments/look-alikes.expanded.json has it.
TEST(Expand, MovieLens100K) {
  std::string why;
  auto real = test::movielens_100k(why);
  if (!real) GTEST_SKIP() << why;
  Dataset base;
  base.ratings = std::move(*real);
  base.info.name = "ml-100k";
  base.info.scale = RatingScale{1, 5, 1};
  const Expansion how{4, 2, 1};
  const Dataset made = make_expansion(base, how, 2);
  check_matrix(base, how, made);
  EXPECT_EQ(made.ratings.nnz(), 441636);
  EXPECT_NEAR(mean_rating(made.ratings), mean_rating(base.ratings), 0.1);
  EXPECT_LT(smallest_user(made.ratings), 20);
  // The tails are longer than the real ones, as in a Kronecker product.
  EXPECT_GT(std::ranges::max(item_counts(made.ratings)), 4 * 583 / 2);
}

}  // namespace
}  // namespace mf
