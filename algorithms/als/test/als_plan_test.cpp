// The parts of als that need no device: tiles, plan of a side, room for batches, scale of fp16.
#include "algorithms/als/test/side_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "algorithms/als/cumf/hermitian/tiles.hpp"
#include "algorithms/als/cumf/settings.hpp"
#include "base/json/json.hpp"
#include "testing/triples.hpp"

namespace mf::als {
namespace {

using mf::test::offsets_of;
using test::make_side_plan;
using test::SidePlan;

std::vector<std::int64_t> long_tail(std::int64_t rows) {
  std::vector<std::int64_t> lengths(rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    lengths[(i * 7919) % rows] = i % 11 == 0 ? 0 : 200000 / (i + 1);
  }
  return lengths;
}

TEST(AlsTiles, QuadsCoverTheLowerHalfRowByRow) {
  int index = 0;
  for (int row = 0; row < 20; ++row) {
    for (int column = 0; column <= row; ++column, ++index) {
      EXPECT_EQ(quad_at(index).row, row);
      EXPECT_EQ(quad_at(index).column, column);
    }
  }
}

// Each pair of factors is in exactly one tile, or in two that are mirror images (in the quads on
// the diagonal), and the slabs write every element of A once.
TEST(AlsTiles, EveryElementIsFormedAndWrittenOnce) {
  for (int factors = 1; factors <= kMostTiledFactors; ++factors) {
    with_layout(factors, [&](auto layout) {
      using L = decltype(layout);
      ASSERT_GE(L::kWidth, factors);
      ASSERT_LE(L::kThreads, 1024);
      constexpr int kWidth = L::kWidth;
      std::vector<int> formed(kWidth * kWidth, 0);
      std::vector<int> written(kWidth * kWidth, 0);
      for (int lane = 0; lane < L::kGroup; ++lane) {
        const Quad quad = quad_at(lane >> 2);
        ASSERT_LT(quad.row, L::kQuadRows);
        const int row = 2 * quad.row + ((lane >> 1) & 1);
        const int column = 2 * quad.column + (lane & 1);
        for (int i = 0; i < L::kSide; ++i) {
          for (int j = 0; j < L::kSide; ++j) {
            ++formed[L::element(row, i) * kWidth + L::element(column, j)];
            // As write_to_slab puts it: a row of the slab, and a column of A.
            const int s = L::slab_row(row & 1, i);
            ++written[L::slab_element(quad.row, s) * kWidth + L::element(column, j)];
            ASSERT_EQ(L::slab_element(quad.row, s), L::element(row, i));
            if (quad.row == quad.column) continue;
            const int mirror = L::slab_row(column & 1, j);
            ASSERT_EQ(L::slab_element(quad.column, mirror), L::element(column, j));
            ++written[L::slab_element(quad.column, mirror) * kWidth + L::element(row, i)];
          }
        }
      }
      for (int i = 0; i < kWidth; ++i) {
        for (int j = 0; j < kWidth; ++j) {
          ASSERT_GE(formed[i * kWidth + j] + formed[j * kWidth + i], 1);
          ASSERT_EQ(written[i * kWidth + j], 1) << factors << " " << i << " " << j;
        }
      }
      for (int q = 0; q + 1 < L::kQuadRows; ++q) {  // write_matrix stops at the first beyond f
        EXPECT_LT(L::slab_element(q, 0), L::slab_element(q + 1, 0));
      }
    });
  }
}

TEST(AlsTiles, TheScaleOfFp16FitsTheLargestElement) {
  for (float x = 1e-20F; x < 1e20F; x *= 1.37F) {
    const float scaled = std::ldexp(x, fp16_exponent(x));
    EXPECT_GE(scaled, 16384.0F) << x;
    EXPECT_LT(scaled, 32768.0F) << x;
  }
  EXPECT_EQ(fp16_exponent(0.0F), 0);
  EXPECT_EQ(fp16_exponent(-1.0F), 0);
  EXPECT_EQ(fp16_exponent(std::nanf("")), 0);
  EXPECT_EQ(fp16_exponent(INFINITY), 0);
  EXPECT_EQ(fp16_exponent(230000.0F * 25), 15 - 23);
}

TEST(AlsPlan, PartsAreEvenAndBounded) {
  EXPECT_EQ(parts_of(8192, 8192, 64), 1);
  EXPECT_EQ(parts_of(8193, 8192, 64), 2);
  EXPECT_EQ(parts_of(230000, 8192, 64), 29);
  EXPECT_EQ(parts_of(230000, 0, 64), 1);
  EXPECT_EQ(parts_of(std::int64_t{2} << 30, 1, 64), 64);
  EXPECT_EQ(part_range(10, 3, 0).begin, 0);
  EXPECT_EQ(part_range(10, 3, 2).end, 10);
  const Range last = part_range((std::int64_t{1} << 31) - 1, 64, 63);
  EXPECT_EQ(last.end, (std::int64_t{1} << 31) - 1);
}

TEST(AlsPlan, ABatchThatCannotHoldOneRowIsAnError) {
  const std::vector<std::int64_t> split = {10};
  EXPECT_THROW(cut_batches(View<const std::int64_t>(split), 1, {1, 2, 100}), std::logic_error);
}

// The device's arguments, made from only the parts of cut rows, against the walk over all rows.
TEST(AlsPlan, BatchesAreThoseOfAWalkOverTheRows) {
  for (const std::int64_t count : {1, 40, 3000}) {
    const auto offsets = offsets_of(long_tail(count));
    for (const std::int64_t rows : {1, 7, 300, 100000}) {
      for (const std::int64_t split_rows : {0, 100, 8192}) {
        for (const std::int64_t parts : {kMaxRowParts, std::int64_t{100}, std::int64_t{5000}}) {
          const PlanRule rule = {rows, parts, split_rows};
          const SidePlan plan = make_side_plan(offsets, rule);
          std::vector<std::int64_t> split;
          for (const std::int32_t row : plan.order) {
            const std::int64_t own =
                parts_of(offsets[row + 1] - offsets[row], split_rows, kMaxRowParts);
            if (own > 1) split.push_back(own);
          }
          EXPECT_EQ(std::accumulate(split.begin(), split.end(), std::int64_t{0}),
                    test::all_parts(offsets, split_rows));
          std::vector<std::int64_t> begins = {0};
          for (const RowBatch& batch : plan.batches) begins.push_back(batch.rows.end);
          EXPECT_EQ(cut_batches(View<const std::int64_t>(split), std::ssize(plan.order), rule),
                    begins)
              << rows << " " << split_rows << " " << parts;
        }
      }
    }
  }
}

// All rows if they fit, never fewer than the smallest batch, and the requested number.
TEST(AlsCapacity, IsThatOfTheBudget) {
  const auto choose = [](std::int64_t rows, std::int64_t parts, std::int64_t asked, double budget) {
    return choose_capacity(rows, parts, asked, 41000, 40000, budget);
  };
  EXPECT_EQ(choose(480189, 12000, 0, 120e9).rows, 480189);
  EXPECT_EQ(choose(480189, 12000, 0, 120e9).parts, 12000);
  EXPECT_EQ(choose(1000, 500, 0, 0).rows, 1);
  EXPECT_EQ(choose(1000, 500, 0, 0).parts, kMaxRowParts);
  EXPECT_EQ(choose(0, 0, 0, 1e9).rows, 1);
  EXPECT_EQ(choose(1000, 500, 300, 0).rows, 300);
  EXPECT_EQ(choose(1000, 500, 5000, 0).rows, 1000);
  const Capacity room = choose(50'000'000, 400'000, 0, 10e9);
  EXPECT_LE(static_cast<double>(room.rows) * 41000 + static_cast<double>(room.parts) * 40000, 10e9);
  EXPECT_GE(room.parts, kMaxRowParts);
  EXPECT_GT(room.rows, 200'000);
}

Params params_with(const Json& changes) { return default_params(als_params(), changes); }

TEST(AlsSettingsOf, RefusesFp16ForFactorizations) {
  const ProblemShape shape{100, 100, 1000};
  EXPECT_FALSE(als_why_unsupported(params_with({{"a_storage", "fp16"}}), shape));
  for (const char* solver : {"lu", "cholesky"}) {
    EXPECT_TRUE(
        als_why_unsupported(params_with({{"a_storage", "fp16"}, {"solver", solver}}), shape));
    EXPECT_TRUE(als_why_unsupported(params_with({{"reg", 0}, {"solver", solver}}), shape));
    EXPECT_FALSE(als_why_unsupported(params_with({{"solver", solver}}), shape));
  }
}

}  // namespace
}  // namespace mf::als
