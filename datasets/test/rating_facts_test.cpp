#include "datasets/ratings/rating_facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.hpp"
#include "testing/triples.hpp"

namespace mf {
namespace {

// Each fifth user and each seventh item has no rating; values from -1 to 3, zeros among them.
Ratings made(std::int32_t m, std::int32_t n, double density, std::uint64_t seed) {
  std::vector<Rating> list;
  Rng rng(seed);
  for (std::int32_t u = 0; u < m; ++u) {
    for (std::int32_t i = 0; i < n; ++i) {
      if (u % 5 == 4 || i % 7 == 6 || rng.uniform() >= density) continue;
      list.push_back({u, i, static_cast<float>(rng.below(33)) / 8 - 1});
    }
  }
  return test::ratings_of(m, n, list);
}

TEST(RatingFacts, AreThoseOfAPlainLoop) {
  // More than one chunk of ratings and of rows; few ratings an item; none.
  for (const Ratings& r :
       {made(21'000, 40, 0.3, 1), made(50, 20'000, 0.001, 2), made(3, 3, 0, 3)}) {
    std::vector<std::uint8_t> users(r.n_users()), items(r.n_items());
    std::vector<std::int64_t> counts(r.n_items());
    std::vector<std::int64_t> seen_of_user(r.n_users()), seen_of_item(r.n_items());
    long double sum = 0;
    for (std::int64_t k = 0; k < r.nnz(); ++k) {
      users[r[k].user] = 1;
      items[r[k].item] = 1;
      ++counts[r[k].item];
      seen_of_user[r[k].user] += r[k].value > 0 ? 1 : 0;
      seen_of_item[r[k].item] += r[k].value > 0 ? 1 : 0;
      sum += static_cast<long double>(r[k].value);
    }
    const long double count = r.nnz() > 0 ? static_cast<long double>(r.nnz()) : 1;
    long double squares = 0;
    for (const float v : r.values())
      squares += std::pow(static_cast<long double>(v) - sum / count, 2);
    const RatingFacts facts = facts_of(r, 3);
    EXPECT_NEAR(facts.mean, static_cast<double>(sum / count), 1e-13);
    EXPECT_NEAR(facts.deviation, static_cast<double>(std::sqrt(squares / count)), 1e-12);
    EXPECT_EQ(facts.known_user, users);
    EXPECT_EQ(facts.known_item, items);
    EXPECT_EQ(facts.rating_users, std::count(users.begin(), users.end(), 1));
    EXPECT_EQ(facts.rated_items, std::count(items.begin(), items.end(), 1));
    ThreadTeam team(3);
    const ObservedCounts observed = count_observed(r, team);
    ASSERT_EQ(std::ssize(facts.item_offsets), r.n_items() + 1);
    for (std::int32_t i = 0; i < r.n_items(); ++i) {
      EXPECT_EQ(facts.item_offsets[i + 1] - facts.item_offsets[i], counts[i]);
      EXPECT_EQ(observed.of_item[i], seen_of_item[i]);
    }
    for (std::int32_t u = 0; u < r.n_users(); ++u) EXPECT_EQ(observed.of_user[u], seen_of_user[u]);
  }
}

TEST(RatingFacts, AreTheSameForAnyNumberOfThreads) {
  const Ratings r = made(9000, 60, 0.5, 4);
  const RatingFacts one = facts_of(r, 1);
  ThreadTeam single(1);
  const ObservedCounts seen = count_observed(r, single);
  for (const int threads : {2, 3, 8}) {
    const RatingFacts facts = facts_of(r, threads);
    EXPECT_EQ(facts.mean, one.mean);  // to the last bit
    EXPECT_EQ(facts.deviation, one.deviation);
    EXPECT_EQ(facts.item_offsets, one.item_offsets);
    ThreadTeam team(threads);
    EXPECT_EQ(mean_rating(r, team), one.mean);
    EXPECT_EQ(mean_rating(r), one.mean);
    EXPECT_EQ(mean_and_deviation(r, team).deviation, one.deviation);
    EXPECT_EQ(count_observed(r, team).of_item, seen.of_item);
    EXPECT_EQ(count_observed(r, team).of_user, seen.of_user);
  }
}

TEST(RatingFacts, OfNothingAreZeros) {
  const RatingFacts facts = facts_of(Ratings(), 2);
  EXPECT_EQ(facts.mean, 0);
  EXPECT_EQ(facts.deviation, 0);
  EXPECT_EQ(facts.rating_users + facts.rated_items, 0);
  EXPECT_TRUE(facts.known_user.empty() && facts.known_item.empty());
}

}  // namespace
}  // namespace mf
