#include "algorithms/core/ranks/exchange_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace mf {
namespace {

// Shapes on four devices; seconds of a rank's half-step.
HalfStep four(double solve_s, double bytes) { return {4, solve_s, bytes}; }

std::int64_t count(double solve_s, double bytes) {
  return std::ssize(parts_to_exchange(four(solve_s, bytes)));
}

const HalfStep kNetflixX64 = four(0.9e-3, 480'189 * 128.0);
const HalfStep kNetflixX128 = four(2.5e-3, 480'189 * 256.0);

TEST(ExchangeParts, AsManyAsTheExchangeIsWorth) {
  EXPECT_EQ(count(0.5e-3, 17770 * 128.0), 1);  // Theta of Netflix, f = 64
  EXPECT_EQ(std::ssize(parts_to_exchange(kNetflixX64)), 2);
  EXPECT_EQ(std::ssize(parts_to_exchange(kNetflixX128)), 3);
  EXPECT_EQ(count(8e-3, 1'000'990 * 256.0), 3);                     // X of Yahoo! Music
  EXPECT_EQ(count(60e-3, 50'082'603 * 256.0), kMostExchangeParts);  // of Hugewiki, 12.8 GB
}

TEST(ExchangeParts, OneWhereNothingIsExchanged) {
  EXPECT_EQ(parts_to_exchange(four(1e-3, 0)), PartShares{1});
  EXPECT_EQ(parts_to_exchange({1, 1, 1e12}), PartShares{1});
  EXPECT_EQ(parts_to_exchange({}), PartShares{1});
}

TEST(ExchangeParts, ShrinkAndAreAll) {
  for (const HalfStep& of : {kNetflixX64, kNetflixX128, four(0, 1e9), four(1, 1), four(1, 0)}) {
    for (int parts = 1; parts <= kMostExchangeParts; ++parts) {
      const PartShares shares = shrinking_parts(of, parts);
      ASSERT_EQ(std::ssize(shares), parts);
      EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
      EXPECT_TRUE(std::is_sorted(shares.rbegin(), shares.rend()));
      EXPECT_GE(shares.back(), 0);
    }
  }
}

// Only the last part is waited for; without the margin of the estimate, too.
TEST(ExchangeParts, EachHidesTheExchangeOfTheOneBefore) {
  for (const HalfStep& of : {kNetflixX64, kNetflixX128, four(8e-3, 1'000'990 * 256.0)}) {
    const PartShares shares = parts_to_exchange(of);
    const double single = half_step_s({1, of.solve_s, 0}, shares);
    const double last =
        half_step_s(four(0, shares.back() * of.bytes), {1}) - half_step_s({1, 0, 0}, {1});
    EXPECT_NEAR(half_step_s(of, shares), single + last, 1e-9);
  }
}

TEST(ExchangeParts, WhatIsChosenTakesLeast) {
  for (const double solve : {0.0, 1e-4, 1e-3, 1e-2, 1e-1}) {
    for (const double bytes : {1e5, 1e6, 1e7, 1e8, 1e9, 1e10}) {
      for (const int ranks : {2, 4, 8}) {
        const HalfStep of{ranks, solve, bytes};
        const double chosen = half_step_s(of, parts_to_exchange(of));
        for (int parts = 1; parts <= kMostExchangeParts; ++parts) {
          EXPECT_LE(chosen, half_step_s(of, shrinking_parts(of, parts)));
          EXPECT_LE(chosen, 1.05 * half_step_s(of, even_shares(parts)))
              << solve << " " << bytes << " " << ranks << " " << parts;
        }
        // Not less than the part that no overlap can hide.
        EXPECT_GE(chosen, solve);
        EXPECT_GE(chosen, bytes * (ranks - 1) / ranks / 1e12);
      }
    }
  }
}

}  // namespace
}  // namespace mf
