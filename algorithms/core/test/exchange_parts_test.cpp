#include "algorithms/core/exchange_parts.hpp"

#include <gtest/gtest.h>

namespace mf {
namespace {

// Shapes on four devices; seconds of a rank's half-step.
HalfStep four(double solve_s, double bytes) { return {4, solve_s, bytes}; }

TEST(ExchangeParts, AsManyAsTheExchangeIsWorth) {
  EXPECT_EQ(parts_to_exchange(four(0.7e-3, 17770 * 128.0)), 1);    // Theta of Netflix, f = 64
  EXPECT_EQ(parts_to_exchange(four(0.7e-3, 480'189 * 128.0)), 2);  // X
  EXPECT_EQ(parts_to_exchange(four(2.0e-3, 480'189 * 256.0)), 3);  // f = 128
  EXPECT_EQ(parts_to_exchange(four(8e-3, 1'000'990 * 256.0)), 5);  // X of Yahoo! Music
  // X of Hugewiki: 12.8 GB, of which the last part alone is waited for.
  EXPECT_EQ(parts_to_exchange(four(60e-3, 50'082'603 * 256.0)), kMostExchangeParts);
}

TEST(ExchangeParts, OneWhereNothingIsExchanged) {
  EXPECT_EQ(parts_to_exchange(four(1e-3, 0)), 1);
  EXPECT_EQ(parts_to_exchange({1, 1, 1e12}), 1);
  EXPECT_EQ(parts_to_exchange({}), 1);
}

TEST(ExchangeParts, WhatIsChosenTakesLeast) {
  for (const double solve : {0.0, 1e-4, 1e-3, 1e-2, 1e-1}) {
    for (const double bytes : {1e5, 1e6, 1e7, 1e8, 1e9, 1e10}) {
      for (const int ranks : {2, 4, 8}) {
        const HalfStep of{ranks, solve, bytes};
        const double chosen = half_step_s(of, parts_to_exchange(of));
        for (int parts = 1; parts <= kMostExchangeParts; ++parts) {
          EXPECT_LE(chosen, half_step_s(of, parts)) << solve << " " << bytes << " " << ranks;
        }
        // Not less than what no overlap can hide.
        EXPECT_GE(chosen, solve);
        EXPECT_GE(chosen, bytes * (ranks - 1) / ranks / 1e12);
      }
    }
  }
}

// The links that docs/several-gpus.md has: 96 MiB in .30 ms, 2 GiB in 4.8.
TEST(ExchangeParts, TheLinksAreThoseMeasured) {
  const auto gather = [](double bytes) {
    return half_step_s(four(0, bytes), 1) - half_step_s({1, 0, bytes}, 1);
  };
  EXPECT_NEAR(gather(96.0 * (1 << 20)), .30e-3, .05e-3);
  EXPECT_NEAR(gather(2048.0 * (1 << 20)), 4.8e-3, .7e-3);
}

}  // namespace
}  // namespace mf
