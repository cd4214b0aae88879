// The index maths and the keys of the device's selection, on the host.
#include "harness/evaluate/rank_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "base/rng.hpp"

namespace mf {
namespace {

TEST(RankKey, OrdersAsScoresAndThenPlacesDo) {
  const float inf = std::numeric_limits<float>::max();
  const float scores[] = {-inf, -2.5F, -1, -1e-40F, 0, 1e-40F, 0.5F, 1, 1.0000001F, 3e8F, inf};
  constexpr TieKey kKey = 77;
  const auto key = [&](float score, std::int32_t item) {
    return rank_key(score_order(score), item, kKey);
  };
  for (std::size_t a = 0; a < std::size(scores); ++a) {
    for (std::size_t b = 0; b < std::size(scores); ++b) {
      for (const auto& [i, j] : {std::pair(0, 1), std::pair(7, 7), std::pair(2147483647, 3)}) {
        const bool first = scores[a] != scores[b] ? scores[a] > scores[b]
                                                  : tie_place(i, kKey) > tie_place(j, kKey);
        EXPECT_EQ(key(scores[a], i) > key(scores[b], j), first) << scores[a] << " " << scores[b];
        EXPECT_GE(key(scores[a], i), first_key(score_order(scores[a])));
      }
    }
  }
  EXPECT_EQ(key(-0.0F, 4), key(0.0F, 4));
  EXPECT_GT(first_key(score_order(-inf)), kNoKey);
  for (const int item : {0, 1, 26743, 2147483647}) {
    EXPECT_EQ(order_of_key(key(-3, item)), score_order(-3));
  }
}

TEST(TieKey, IsAnOrderOfItsOwnForEachUserAndSeed) {
  std::set<TieKey> keys;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::int32_t user = 0; user < 500; ++user) keys.insert(tie_key(seed, user));
  }
  EXPECT_GT(keys.size(), 9990u) << "of 10,000";
}

TEST(TieKey, PlacesAreDistinct) {
  for (const TieKey key : {0U, 1U, 0x80000000U, 0xffffffffU, tie_key(1, 5)}) {
    std::set<std::uint32_t> places;
    for (std::int32_t item = 0; item < 30'000; ++item) {
      places.insert(tie_place(item, key));
    }
    EXPECT_EQ(places.size(), 30'000u);
  }
}

// Over users every item is as often among the first tenth as any other, and no pair of neighbours
// keeps its order: the number of an item does not matter.
TEST(TieKey, PlacesHaveNothingToDoWithNumbers) {
  constexpr int kUsers = 4000, kItems = 200, kFirst = 20;
  std::vector<int> among_first(kItems), before_next(kItems);
  for (std::int32_t user = 0; user < kUsers; ++user) {
    const TieKey key = tie_key(1, user);
    std::vector<std::uint32_t> sorted;
    for (int i = 0; i < kItems; ++i) sorted.push_back(tie_place(i, key));
    for (int i = 0; i + 1 < kItems; ++i) before_next[i] += sorted[i] > sorted[i + 1] ? 1 : 0;
    const auto places = sorted;
    std::sort(sorted.rbegin(), sorted.rend());
    for (int i = 0; i < kItems; ++i) among_first[i] += places[i] >= sorted[kFirst - 1] ? 1 : 0;
  }
  // Five standard deviations of a share of .1, and of one of .5.
  const double tenth = 5 * std::sqrt(kUsers * 0.1 * 0.9), half = 5 * std::sqrt(kUsers * 0.25);
  for (int i = 0; i < kItems; ++i) EXPECT_NEAR(among_first[i], kUsers * 0.1, tenth) << i;
  for (int i = 0; i + 1 < kItems; ++i) EXPECT_NEAR(before_next[i], kUsers * 0.5, half) << i;
}

}  // namespace
}  // namespace mf
