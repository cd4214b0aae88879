// Orders that are computed, not stored.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "algorithms/core/random.hpp"

namespace mf {
namespace {

TEST(Permutation, IsABijection) {
  for (const std::int64_t count : {1, 2, 3, 5, 64, 65, 1000, 4096, 99991}) {
    for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 60}) {
      const Permutation permutation = Permutation::of(count, seed);
      std::vector<bool> seen(count);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t to = permutation(i);
        ASSERT_GE(to, 0);
        ASSERT_LT(to, count);
        seen[to] = true;
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), true), count) << count << " " << seed;
    }
  }
}

// Neighbours go far from each other, and to any place equally often.
TEST(Permutation, IsRandom) {
  constexpr std::int64_t kCount = 100000;
  const Permutation permutation = Permutation::of(kCount, 7);
  std::array<int, 10> hits{};
  double distance = 0;
  for (std::int64_t i = 0; i < 10000; ++i) {
    const auto here = static_cast<double>(permutation(i));
    const auto next = static_cast<double>(permutation(i + 1));
    ++hits[static_cast<std::int64_t>(here) / (kCount / 10)];
    distance += std::abs(here - next) / kCount / 10000;
  }
  EXPECT_NEAR(distance, 1.0 / 3, 0.01) << "of two uniform numbers";
  double chi2 = 0;
  for (const int hit : hits) chi2 += std::pow(hit - 1000, 2) / 1000;
  EXPECT_LT(chi2, 27.9) << "1 in 1000 for 9 degrees of freedom";
}

}  // namespace
}  // namespace mf
