#include "algorithms/core/row_cuts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/aligned.hpp"
#include "base/rng.hpp"

namespace mf {
namespace {

AlignedVector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths) {
  AlignedVector<std::int64_t> offsets = {0};
  for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

RowCuts cut(const std::vector<std::int64_t>& lengths, double row_cost, int ranks) {
  const auto offsets = offsets_of(lengths);
  return cut_rows(View<const std::int64_t>(offsets), row_cost, ranks);
}

TEST(RowCuts, PartsHaveAboutTheSameWork) {
  std::vector<std::int64_t> lengths;
  Rng rng(5);
  for (int row = 0; row < 3000; ++row) {
    lengths.push_back(row % 7 == 0 ? 0 : 1 + static_cast<std::int64_t>(3e4 / (1 + row)));
  }
  std::shuffle(lengths.begin(), lengths.end(), rng);
  for (const double row_cost : {0.0, 20.0}) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
      const RowCuts cuts = cut(lengths, row_cost, ranks);
      ASSERT_EQ(std::ssize(cuts), ranks + 1);
      EXPECT_EQ(cuts.front(), 0);
      EXPECT_EQ(cuts.back(), std::ssize(lengths));
      double all = 0, longest = 0;
      std::vector<double> work(ranks, 0);
      for (int rank = 0; rank < ranks; ++rank) {
        for (std::int64_t row = cuts[rank]; row < cuts[rank + 1]; ++row) {
          const double cost = lengths[row] > 0 ? static_cast<double>(lengths[row]) + row_cost : 0.0;
          work[rank] += cost;
          all += cost;
          longest = std::max(longest, cost);
        }
      }
      for (const double one : work) EXPECT_LE(one, all / ranks + longest);
    }
  }
}

TEST(RowCuts, MoreRanksThanRowsLeaveSomeEmpty) {
  for (const auto& lengths : {std::vector<std::int64_t>{3, 1}, {0, 9, 0}, {0, 0}, {}}) {
    const RowCuts cuts = cut(lengths, 1, 5);
    ASSERT_EQ(std::ssize(cuts), 6);
    EXPECT_EQ(cuts.front(), 0);
    EXPECT_EQ(cuts.back(), std::ssize(lengths));
    EXPECT_TRUE(std::is_sorted(cuts.begin(), cuts.end()));
  }
}

TEST(RowCuts, OneLongRowHasARankOfItsOwn) {
  const RowCuts cuts = cut({1, 1, 1000, 1, 1}, 0, 3);
  for (int rank = 0; rank < 3; ++rank) {
    const RowRange rows = rows_of(cuts, rank);
    if (rows.begin <= 2 && 2 < rows.end) {
      EXPECT_LE(rows.size(), 3);
    }
  }
}

}  // namespace
}  // namespace mf
