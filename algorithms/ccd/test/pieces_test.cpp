// What the blocks of ccd++ do, against the layout.
#include "algorithms/ccd/test/pieces_reference.hpp"

#include <gtest/gtest.h>

#include <set>

#include "algorithms/ccd/test/reference.hpp"

namespace mf::ccd {
namespace {

Layout laid(const Ratings& train, const LayoutRule& rule) {
  ThreadTeam team(1);
  Layout layout = make_layout({train.user_offsets(), train.items(), train.n_items()}, rule, team);
  test::order_tasks(layout);
  return layout;
}

// As the device does it: costs summed over all tasks, then cuts of them.
Pieces cut_pieces(const Layout& layout, std::int64_t blocks) {
  std::vector<std::int64_t> before = {0};
  for (const Task& task : layout.tasks) before.push_back(before.back() + cost_of(task.units));
  std::vector<TileTasks> tiles;
  for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
    TileTasks tasks;
    tasks.begin = layout.tile_tasks[tile];
    tasks.end = layout.tile_tasks[tile + 1];
    tasks.middle = tasks.begin;
    while (tasks.middle < tasks.end && !is_short(layout.tasks[tasks.middle].units)) ++tasks.middle;
    tasks.long_cost = before[tasks.middle] - before[tasks.begin];
    tasks.short_cost = before[tasks.end] - before[tasks.middle];
    tiles.push_back(tasks);
  }
  const Shares shares = cut_shares(View<const TileTasks>(tiles), blocks);
  std::vector<std::int64_t> places;
  for (const Cut& cut : cuts_of(shares, View<const TileTasks>(tiles))) {
    places.push_back(cut.at(before.data()));
  }
  return make_pieces(shares, View<const std::int64_t>(places));
}

TEST(CcdPieces, EveryTaskIsInOnePieceOfItsTileAndKind) {
  const Ratings train = test::planted(500, 900, 0.2, 1);
  for (const LayoutRule rule :
       {LayoutRule{1000, 4, 256}, LayoutRule{200, 4, 256}, LayoutRule{300, 4, 9}}) {
    const Layout layout = laid(train, rule);
    EXPECT_EQ(layout.tiles, (900 + rule.widest - 1) / rule.widest);
    for (const std::int64_t blocks : {1, 2, 7, 132, 5000}) {
      const Pieces cut = cut_pieces(layout, blocks);
      EXPECT_TRUE(test::same(cut, test::walk_pieces(layout, blocks))) << blocks;
      ASSERT_EQ(std::ssize(cut.of_block), blocks + 1);
      ASSERT_EQ(cut.of_block.front(), 0);
      ASSERT_EQ(cut.of_block.back(), std::ssize(cut.pieces));
      std::vector<int> seen(layout.tasks.size());
      std::int64_t most = 0;
      for (std::int64_t block = 0; block < blocks; ++block) {
        ASSERT_LE(cut.of_block[block], cut.of_block[block + 1]);
        std::int64_t units = 0;
        for (std::int32_t p = cut.of_block[block]; p < cut.of_block[block + 1]; ++p) {
          const Piece& piece = cut.pieces[p];
          const auto take = [&](std::int64_t begin, std::int64_t end, bool is_short) {
            for (std::int64_t t = begin; t < end; ++t) {
              ASSERT_GE(t, layout.tile_tasks[piece.tile]);
              ASSERT_LT(t, layout.tile_tasks[piece.tile + 1]);
              ASSERT_EQ(layout.tasks[t].units <= kShortUnits, is_short);
              ++seen[t];
              units += layout.tasks[t].units;
            }
          };
          take(piece.long_begin, piece.long_end, false);
          take(piece.short_begin, piece.short_end, true);
        }
        most = std::max(most, units);
      }
      for (const int times : seen) ASSERT_EQ(times, 1);
      // No block has much more than its share.
      EXPECT_LE(most, 3 * layout.size() / 4 / (2 * blocks) + 256) << blocks;
    }
  }
}

TEST(CcdPieces, OrderKeepsSlots) {
  const Ratings train = test::planted(200, 300, 0.3, 2);
  ThreadTeam team(1);
  const LayoutRule rule = {100, 4, 10};
  const Layout before =
      make_layout({train.user_offsets(), train.items(), train.n_items()}, rule, team);
  const Layout after = laid(train, rule);
  const auto all = [](const Layout& layout) {
    std::set<std::array<std::int64_t, 4>> set;
    for (const Task& t : layout.tasks) set.insert({t.begin, t.slot, t.row, t.units});
    return set;
  };
  EXPECT_EQ(all(before), all(after));
  EXPECT_EQ(before.tile_tasks, after.tile_tasks);
}

// Which of a segment's tasks are long, against the tasks.
TEST(CcdPieces, LongTasksOfASegmentAreCounted) {
  for (const std::int64_t task_units : {1, 8, 9, 12, 256}) {
    for (std::int64_t units = 0; units < 600; ++units) {
      std::int64_t tasks = 0;
      std::int64_t longs = 0;
      for (std::int64_t begin = 0; begin < units; begin += task_units) {
        ++tasks;
        if (is_short(std::min(units - begin, task_units))) continue;
        EXPECT_EQ(longs, tasks - 1) << "a long task behind a short one";
        ++longs;
      }
      EXPECT_EQ(tasks_of(units, task_units), tasks);
      EXPECT_EQ(long_tasks_of(units, task_units), longs) << units << " by " << task_units;
    }
  }
}

TEST(CcdPieces, NothingToCut) {
  const Pieces cut = cut_pieces(laid(test::ratings_of(3, 4, {}), {10, 4, 8}), 5);
  EXPECT_TRUE(cut.pieces.empty());
  EXPECT_EQ(cut.of_block, std::vector<std::int32_t>({0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace mf::ccd
