// The index maths and the keys of the device's selection, on the host.
#include "harness/evaluate/rank_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/rng.hpp"

namespace mf {
namespace {

TEST(RankKey, OrdersAsScoresAndThenItemsDo) {
  const float inf = std::numeric_limits<float>::max();
  const float scores[] = {-inf, -2.5F, -1, -1e-40F, 0, 1e-40F, 0.5F, 1, 1.0000001F, 3e8F, inf};
  for (std::size_t a = 0; a < std::size(scores); ++a) {
    for (std::size_t b = 0; b < std::size(scores); ++b) {
      for (const auto& [i, j] : {std::pair(0, 1), std::pair(7, 7), std::pair(2147483647, 3)}) {
        const bool first = scores[a] != scores[b] ? scores[a] > scores[b] : i < j;
        EXPECT_EQ(rank_key(scores[a], i) > rank_key(scores[b], j), first)
            << scores[a] << " " << scores[b];
      }
    }
  }
  EXPECT_EQ(rank_key(-0.0F, 4), rank_key(0.0F, 4));
  EXPECT_GT(rank_key(-inf, 2147483647), kNoKey);
  for (const int item : {0, 1, 26743, 2147483647}) EXPECT_EQ(item_of_key(rank_key(-3, item)), item);
}

TEST(RankKey, TheNetworkSorts) {
  Rng rng(3);
  for (int n = 2; n <= 1024; n *= 2) {
    std::vector<RankKey> keys(n);
    for (auto& key : keys) key = rng.below(n) == 0 ? kNoKey : rng();
    auto expected = keys;
    std::sort(expected.rbegin(), expected.rend());
    for (int size = 2; size <= n; size *= 2) {
      for (int stride = size / 2; stride > 0; stride /= 2) {
        std::vector<int> touched(n);
        for (int t = 0; t < n / 2; ++t) {
          const SortPair pair = sort_pair(t, size, stride);
          ++touched.at(pair.low);
          ++touched.at(pair.low + stride);
          if ((keys[pair.low] < keys[pair.low + stride]) != pair.rising) {
            std::swap(keys[pair.low], keys[pair.low + stride]);
          }
        }
        EXPECT_EQ(std::count(touched.begin(), touched.end(), 1), n) << "no two threads share one";
      }
    }
    EXPECT_EQ(keys, expected) << n;
  }
}

}  // namespace
}  // namespace mf
