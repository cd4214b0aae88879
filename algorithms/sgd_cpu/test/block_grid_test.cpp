#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "algorithms/sgd_cpu/block_grid.hpp"
#include "algorithms/sgd_cpu/test/support.hpp"

namespace mf::sgd_cpu {
namespace {

using Cell = mf::test::Triple;

// The ratings of the grid in original indices; checks runs, rows and stripes on the way.
std::vector<Cell> unpack(const BlockGrid& grid) {
  std::vector<Cell> cells;
  std::map<std::int32_t, std::int32_t> stripe_of_user;
  std::map<std::int32_t, std::int32_t> stripe_of_item;
  for (const Block& block : grid.blocks()) {
    EXPECT_GT(block.ratings, 0);
    const RowRating* rating = grid.ratings_of(block);
    std::int32_t last_user = -1;
    for (std::int64_t r = 0; r < block.runs; ++r) {
      const Run run = grid.runs_of(block)[r];
      EXPECT_GT(run.count, 0);
      EXPECT_GT(run.user, last_user) << "a user has one run in a block, rows ascending";
      last_user = run.user;
      EXPECT_EQ(stripe_of_user.emplace(run.user, block.cell.user_stripe).first->second,
                block.cell.user_stripe);
      for (std::int32_t k = 0; k < run.count; ++k, ++rating) {
        EXPECT_EQ(stripe_of_item.emplace(rating->other, block.cell.item_stripe).first->second,
                  block.cell.item_stripe);
        cells.emplace_back(grid.user_of_row()[run.user], grid.item_of_row()[rating->other],
                           rating->value);
      }
    }
    EXPECT_EQ(rating, grid.ratings_of(block) + block.ratings);
  }
  return cells;
}

void expect_partition(const Ratings& ratings, GridShape shape, int threads) {
  ThreadTeam team(threads);
  const BlockGrid grid(ratings, shape, 3, team);
  auto cells = unpack(grid);
  std::sort(cells.begin(), cells.end());
  EXPECT_EQ(cells, mf::test::triples(ratings));
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (const GridCell cell : grid.cells()) {
    EXPECT_TRUE(seen.emplace(cell.user_stripe, cell.item_stripe).second);
    EXPECT_LT(cell.user_stripe, shape.users);
    EXPECT_LT(cell.item_stripe, shape.items);
  }
}

TEST(BlockGrid, HoldsEveryRatingOnce) {
  const Ratings ratings = test::planted(70, 50, 0.2, 1);
  for (const GridShape shape : {GridShape{1, 1}, {1, 5}, {5, 1}, {3, 4}, {70, 50}}) {
    expect_partition(ratings, shape, 1);
    expect_partition(ratings, shape, 3);
  }
}

TEST(BlockGrid, EmptyRowsOneRowOneColumnOneRating) {
  const std::vector<Rating> one = {{2, 3, 4.0F}};
  expect_partition(test::ratings_of(5, 6, one), {3, 3}, 2);
  expect_partition(test::ratings_of(5, 6, {}), {3, 3}, 2);
  expect_partition(test::ratings_of(1, 6, {{0, 1, 1.0F}, {0, 4, 2.0F}}), {1, 4}, 2);
  expect_partition(test::ratings_of(6, 1, {{1, 0, 1.0F}, {4, 0, 2.0F}}), {4, 1}, 2);
  expect_partition(test::ratings_of(9, 9, {{0, 0, 1.0F}, {4, 8, 2.0F}, {8, 4, 3.0F}}), {9, 9}, 4);
}

TEST(BlockGrid, DoesNotDependOnThreads) {
  const Ratings ratings = test::planted(200, 90, 0.2, 1);
  ThreadTeam one(1);
  ThreadTeam three(3);
  const BlockGrid a(ratings, {7, 5}, 3, one);
  const BlockGrid b(ratings, {7, 5}, 3, three);
  EXPECT_EQ(a.user_of_row(), b.user_of_row());
  EXPECT_EQ(a.item_of_row(), b.item_of_row());
  EXPECT_EQ(unpack(a), unpack(b));
  const BlockGrid other(ratings, {7, 5}, 4, one);
  EXPECT_NE(a.user_of_row(), other.user_of_row());
}

// One item in ten is rated about six times as often as the others, yet no stripe is far from even.
TEST(BlockGrid, StripesHoldAboutEqualNumbersOfRatings) {
  const Ratings ratings = test::planted(400, 300, 0.2, 1);
  ThreadTeam team(1);
  const BlockGrid grid(ratings, {8, 6}, 3, team);
  std::vector<double> users(8);
  std::vector<double> items(6);
  for (const Block& block : grid.blocks()) {
    users[block.cell.user_stripe] += static_cast<double>(block.ratings);
    items[block.cell.item_stripe] += static_cast<double>(block.ratings);
  }
  const auto nnz = static_cast<double>(ratings.nnz());
  for (const double share : users) EXPECT_NEAR(share / nnz, 1.0 / 8, 0.02);
  for (const double share : items) EXPECT_NEAR(share / nnz, 1.0 / 6, 0.02);
}

GridRequest netflix(int threads) {
  GridRequest r;
  r.n_users = 480189;
  r.n_items = 17770;
  r.nnz = 99072112;
  r.row_bytes = 512;
  r.l2_bytes = 1 << 20;
  r.threads = threads;
  return r;
}

TEST(PlanGrid, LeavesThreadsAChoiceAndFitsTheCache) {
  for (const int threads : {1, 2, 16, 64}) {
    const GridShape shape = plan_grid(netflix(threads));
    EXPECT_GT(shape.items, threads);
    EXPECT_GT(shape.users, threads);
    EXPECT_LE(17770 / shape.items * 512, 1 << 20);
  }
}

TEST(PlanGrid, TakesWhatIsAskedForWithinTheMatrix) {
  GridRequest r = netflix(4);
  r.grid_users = 33;
  r.grid_items = 21;
  EXPECT_EQ(plan_grid(r).users, 33);
  EXPECT_EQ(plan_grid(r).items, 21);
  r.n_users = 10;
  r.n_items = 1;
  EXPECT_EQ(plan_grid(r).users, 10);
  EXPECT_EQ(plan_grid(r).items, 1);
  EXPECT_EQ(plan_grid(GridRequest{}).users, 1);
}

// With rows too long for any stripe to fit, the runs over which a row of P is kept decide.
TEST(PlanGrid, KeepsRunsOfSomeLength) {
  GridRequest r = netflix(1);
  r.row_bytes = 65536;
  const GridShape shape = plan_grid(r);
  EXPECT_GE(r.nnz / (r.n_users * shape.items), 4);
}

}  // namespace
}  // namespace mf::sgd_cpu
