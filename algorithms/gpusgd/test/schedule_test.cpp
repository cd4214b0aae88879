// Blocks, diagonals and groups, and what is counted on them.
#include "algorithms/gpusgd/test/arrangement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "algorithms/gpusgd/test/support.hpp"
#include "base/json/json.hpp"

namespace mf::gpusgd {
namespace {

struct Shape {
  std::int32_t m, n;
  double density;
};

// Square, wide, tall, one row, one column, one rating, full, and empty.
constexpr Shape kShapes[] = {{50, 50, 0.1}, {20, 93, 0.2}, {130, 17, 0.15}, {1, 40, 0.4},
                             {40, 1, 0.3},  {1, 1, 1},     {12, 12, 1},     {30, 20, 0}};
constexpr std::int32_t kBlocks[] = {1, 2, 3, 7, 8, 25, 64, 200};

template <class Body>
void for_all(const Body& body) {
  for (const Shape& shape : kShapes) {
    const Ratings train = random_matrix(shape.m, shape.n, shape.density);
    for (const std::int32_t l : kBlocks) {
      for (const bool square : {true, false}) {
        const Cut cut =
            square ? square_cut(shape.m, shape.n, l) : rectangular_cut(shape.m, shape.n, l);
        SCOPED_TRACE(testing::Message() << shape.m << " x " << shape.n << ", l = " << l
                                        << (square ? ", square" : ", rectangular"));
        body(train, cut);
      }
    }
  }
}

Json facts_for(Scheme scheme, const Json& changes, const Ratings& train) {
  const Settings settings = settings_of(scheme, changes);
  const Arrangement made = arrange(settings, train);
  return facts_of(settings, made.cut, made.counts, {train.n_users(), train.n_items(), train.nnz()});
}

TEST(Schedule, ADiagonalMeetsEveryRowAndColumnOnce) {
  for (const std::int32_t l : kBlocks) {
    for (std::int32_t tag = 0; tag < l; ++tag) {
      std::set<std::int32_t> columns;
      for (std::int32_t row = 0; row < l; ++row) {
        const std::int32_t column = column_of(row, tag, l);
        EXPECT_EQ(column, (row + tag) % l);
        EXPECT_EQ(tag_of(row, column, l), tag);
        columns.insert(column);
      }
      EXPECT_EQ(std::ssize(columns), l);
    }
  }
}

TEST(Schedule, IndicesDoNotOverflow) {
  constexpr std::int32_t kMost = 2147483647;
  EXPECT_EQ(slot_of(99999, 99999, 100000), 9999999999LL);
  EXPECT_EQ(square_cut(kMost, 5, 2).rows, 1073741824);
  EXPECT_EQ(rectangular_cut(kMost, kMost, 1).columns, kMost);
  EXPECT_EQ(group_of(kMost - 1, 0, kMost), 1);
}

TEST(Schedule, AGroupOfABlockSharesNoRowAndNoColumn) {
  constexpr std::int32_t kSide = 9;
  std::map<std::int32_t, std::set<std::int32_t>> columns;
  for (std::int32_t user = 3 * kSide; user < 4 * kSide; ++user) {
    std::set<std::int32_t> groups;
    for (std::int32_t item = 7 * kSide; item < 8 * kSide; ++item) {
      const std::int32_t group = group_of(user, item, kSide);
      EXPECT_EQ(group, ((item - user) % kSide + kSide) % kSide);
      groups.insert(group);
      EXPECT_TRUE(columns[group].insert(item).second) << "two of a group in one column";
    }
    EXPECT_EQ(std::ssize(groups), kSide) << "two of a group in one row";
  }
}

TEST(Cut, RoundsUpAndIsNeverEmpty) {
  const Cut square = square_cut(100, 30, 8);
  EXPECT_EQ(std::tuple(square.rows, square.columns), std::tuple(13, 13));
  const Cut rectangular = rectangular_cut(100, 30, 8);
  EXPECT_EQ(std::tuple(rectangular.rows, rectangular.columns), std::tuple(13, 4));
  EXPECT_EQ(square_cut(0, 0, 5).rows, 1);
  EXPECT_EQ(rectangular_cut(0, 3, 5).rows, 1);
}

TEST(Facts, BlankBlocksAreCounted) {
  for_all([](const Ratings& train, const Cut& cut) {
    std::set<std::pair<std::int32_t, std::int32_t>> with_rating, with_cell;
    for (std::int64_t i = 0; i < train.nnz(); ++i) {
      with_rating.insert({train[i].user / cut.rows, train[i].item / cut.columns});
    }
    for (std::int32_t u = 0; u < train.n_users(); ++u) {
      for (std::int32_t i = 0; i < train.n_items(); ++i) {
        with_cell.insert({u / cut.rows, i / cut.columns});
      }
    }
    const Scheme scheme = cut.rows == cut.columns ? Scheme::grouped : Scheme::tree;
    const Json facts = facts_for(scheme, {{"blocks", cut.blocks}}, train);
    EXPECT_EQ(facts["block_users"], cut.rows);
    EXPECT_EQ(facts["block_items"], cut.columns);
    const std::int64_t all = std::int64_t{cut.blocks} * cut.blocks;
    EXPECT_EQ(facts["blocks"], all);
    EXPECT_EQ(facts["blank_blocks"], all - std::ssize(with_rating));
    EXPECT_EQ(facts["padding_blocks"], all - std::ssize(with_cell));
  });
}

TEST(Facts, LanesOfGroupsAreCountedByTheStep) {
  for (const int threads : {1, 3, 256}) {
    const Ratings train = random_matrix(90, 70, 0.3);
    std::int64_t lanes = 0;
    std::int64_t serial = 0;
    for (std::int32_t tag = 0; tag < 5; ++tag) {
      std::int64_t longest = 0;
      for (std::int32_t row = 0; row < 5; ++row) {
        std::map<std::int32_t, std::int64_t> sizes;
        for (std::int64_t i = 0; i < train.nnz(); ++i) {
          const Rating rating = train[i];
          if (rating.user / 18 != row || rating.item / 18 != (row + tag) % 5) continue;
          ++sizes[((rating.item - rating.user) % 18 + 18) % 18];
        }
        std::int64_t steps = 0;
        for (const auto& [group, size] : sizes) steps += (size + threads - 1) / threads;
        lanes += steps * threads;
        longest = std::max(longest, steps);
      }
      serial += longest;
    }
    const Json facts =
        facts_for(Scheme::grouped, {{"blocks", 5}, {"threads_per_block", threads}}, train);
    EXPECT_EQ(facts["lane_steps"], lanes);
    EXPECT_EQ(facts["idle_lane_steps"], lanes - train.nnz());
    EXPECT_EQ(facts["serial_steps"], serial);
  }
}

TEST(Facts, LanesOfTheTreeAreCountedByTheRound) {
  const Ratings train = random_matrix(30, 40, 0.5);
  for (const int f : {1, 2, 7, 16, 32, 33, 100, 1024}) {
    const int threads = (f + 31) / 32 * 32;
    std::int64_t idle = 2 * (threads - f);  // products and update
    int steps = 2;
    for (int distance = 1; distance < f; distance *= 2, ++steps) {
      for (int k = 0; k < threads; ++k) idle += !adds(k, distance, f);
    }
    const Json facts = facts_for(Scheme::tree, {{"blocks", 1}, {"factors", f}}, train);
    EXPECT_EQ(tree_rounds(f), steps - 2);
    EXPECT_EQ(facts["lane_steps"], train.nnz() * steps * threads) << f;
    EXPECT_EQ(facts["idle_lane_steps"], train.nnz() * idle) << f;
    EXPECT_EQ(facts["serial_steps"], train.nnz() * steps) << f;
  }
}

// Figure 8 of the paper: a block of 4 x 4 by three threads, three factors. Its text has elements 1,
// 6, 11 and 16, the diagonal, in the first of GPUSGD's four phases, 15 units of time for GPUSGD and
// 8 for NewGPUSGD; which other elements are known is only drawn. 15 units are five steps of three
// factors, so the other phases have at most three ratings each; 8 units are a unit a rating.
TEST(Facts, TheBlockOfFigure8TakesFifteenUnitsAgainstEight) {
  constexpr int kFactors = 3;
  std::vector<Rating> known;
  for (const std::int32_t element : {1, 6, 11, 16, 2, 12, 8, 10}) {
    known.push_back({(element - 1) / 4, (element - 1) % 4, 1.0F});
  }
  const Ratings block = test::ratings_of(4, 4, known);
  const Json grouped = facts_for(
      Scheme::grouped, {{"blocks", 1}, {"threads_per_block", 3}, {"factors", kFactors}}, block);
  EXPECT_EQ(grouped["serial_steps"].get<int>() * kFactors, 15);
  EXPECT_EQ(grouped["idle_lane_steps"], 5 * 3 - 8);  // two lanes wait with element 16
  EXPECT_EQ(block.nnz(), 8);
  // The paper's unit leaves out the tree: with it, a rating takes two rounds and the update more.
  const Json tree = facts_for(Scheme::tree, {{"blocks", 1}, {"factors", kFactors}}, block);
  EXPECT_EQ(tree["serial_steps"], 8 * (1 + 2 + 1));
}

}  // namespace
}  // namespace mf::gpusgd
