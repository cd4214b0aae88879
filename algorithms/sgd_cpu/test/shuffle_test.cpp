#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "algorithms/sgd_cpu/shuffle.hpp"

namespace mf::sgd_cpu {
namespace {

std::vector<std::int32_t> shuffled(std::int64_t count, std::uint64_t seed, std::uint64_t stream,
                                   int threads) {
  ThreadTeam team(threads);
  std::vector<std::int32_t> order(count);
  shuffle_into(
      order.data(), count, [](std::int64_t i) { return static_cast<std::int32_t>(i); }, seed,
      stream, team);
  return order;
}

TEST(Shuffle, HoldsEveryElementOnce) {
  for (const std::int64_t count : {0, 1, 2, 1000, 65536, 65537, 300000}) {
    auto order = shuffled(count, 1, 1, 2);
    std::sort(order.begin(), order.end());
    std::vector<std::int32_t> expected(count);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(order, expected) << count;
  }
}

TEST(Shuffle, DependsOnSeedAndStreamAndNotOnThreads) {
  const auto order = shuffled(200000, 1, 1, 1);
  EXPECT_EQ(order, shuffled(200000, 1, 1, 3));
  EXPECT_NE(order, shuffled(200000, 1, 2, 1));
  EXPECT_NE(order, shuffled(200000, 2, 1, 1));
}

// 24 orders of 4 elements, 24,000 draws: each expected 1000 times, chi-square with 23 degrees of
// freedom is above 60 with probability 4e-5 (and the draws are fixed by their seeds).
TEST(Shuffle, EveryOrderOfFourIsEquallyLikely) {
  std::map<std::vector<std::int32_t>, int> counts;
  for (std::uint64_t stream = 0; stream < 24000; ++stream) ++counts[shuffled(4, 7, stream, 1)];
  ASSERT_EQ(counts.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, count] : counts)
    chi_square += (count - 1000.0) * (count - 1000.0) / 1000;
  EXPECT_LT(chi_square, 60);
}

// Many buckets: elements of the first tenth spread evenly over the tenths. Nine degrees of freedom
// in each row; above 40 with probability 8e-6.
TEST(Shuffle, PlacesAreEvenAcrossBuckets) {
  constexpr std::int64_t kCount = 1000000;
  ASSERT_GT(plan_shuffle(kCount).buckets, 8);
  const auto order = shuffled(kCount, 11, 1, 2);
  std::vector<std::vector<double>> counts(10, std::vector<double>(10));
  for (std::size_t place = 0; place < order.size(); ++place) {
    counts[order[place] / 100000][place / 100000] += 1;
  }
  for (const auto& row : counts) {
    double chi_square = 0;
    for (const double count : row) chi_square += (count - 10000) * (count - 10000) / 10000;
    EXPECT_LT(chi_square, 40);
  }
}

TEST(Shuffle, PlanCoversTheCountWithBoundedTables) {
  for (const std::int64_t count : {0LL, 1LL, 100000LL, 99072112LL, 3101144313LL}) {
    const ShufflePlan plan = plan_shuffle(count);
    EXPECT_GE(plan.chunk * plan.chunks, count);
    EXPECT_LE(plan.chunks, 1024);
    EXPECT_GE(plan.buckets, 1);
    EXPECT_LE(plan.buckets, 4096);
  }
}

}  // namespace
}  // namespace mf::sgd_cpu
