// Draws without a state.
#include "algorithms/core/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace mf {
namespace {

// The known answers that its authors publish with Random123.
TEST(Philox, GivesTheKnownAnswers) {
  using Words = std::array<std::uint32_t, 4>;
  const auto run = [](Words counter, std::array<std::uint32_t, 2> key) {
    Philox philox{{counter[0], counter[1], counter[2], counter[3]}, {key[0], key[1]}};
    philox.run();
    return Words{philox.counter[0], philox.counter[1], philox.counter[2], philox.counter[3]};
  };
  EXPECT_EQ(run({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(run({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(run({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomBits, DependOnSeedRowAndIteration) {
  std::set<std::uint32_t> seen;
  for (const std::uint64_t seed : {1ULL, 2ULL, 1ULL << 40}) {
    for (const std::int32_t row : {0, 1, 500000}) {
      for (const std::int64_t iteration : {1LL, 2LL, 1LL << 33}) {
        seen.insert(random_bits(seed, row, iteration));
      }
    }
  }
  EXPECT_EQ(seen.size(), 27U);
}

TEST(Pick, TakesEveryNumberEquallyOften) {
  constexpr int kCount = 7;
  constexpr int kDraws = 70000;
  std::vector<int> hits(kCount);
  for (int i = 0; i < kDraws; ++i) ++hits[pick(random_bits(3, 42, i), kCount)];
  constexpr double kExpected = kDraws / double{kCount};
  double chi2 = 0;
  for (const int hit : hits) chi2 += std::pow(hit - kExpected, 2) / kExpected;
  EXPECT_LT(chi2, 22.5) << "1 in 1000 for 6 degrees of freedom";
  EXPECT_EQ(pick(0xffffffffU, 1), 0);
  EXPECT_EQ(pick(0xffffffffU, (1LL << 31) - 1), (1LL << 31) - 2);
}

}  // namespace
}  // namespace mf
