// Both sides of a matrix as they lie for the passes, against the matrix.
#include "algorithms/ccd/layout.hpp"

#include <gtest/gtest.h>

#include <map>

#include "algorithms/ccd/test/reference.hpp"

namespace mf::ccd {
namespace {

constexpr std::int32_t kNoOther = -7;

struct Laid {
  Csc columns;
  Layout layout;
  AlignedVector<std::int32_t> others;   // of each place, in its tile
  AlignedVector<std::int64_t> sources;  // kNoOther: padding
};

Laid lay(const Ratings& train, bool users, const LayoutRule& rule, std::int64_t chunk) {
  ThreadTeam team(3);
  Laid laid;
  laid.columns = make_csc(train, 1);
  const SideRows rows =
      users ? SideRows{train.user_offsets(), train.items(), train.n_items()}
            : SideRows{laid.columns.item_offsets, laid.columns.users, train.n_users()};
  laid.layout = make_layout(rows, rule, team);
  laid.others.resize(laid.layout.size());
  laid.sources.resize(laid.layout.size());
  for (std::int64_t begin = 0; begin < laid.layout.size(); begin += chunk) {
    const std::int64_t end = std::min(begin + chunk, laid.layout.size());
    laid.layout.fill<std::int32_t>(begin, end, laid.others.data() + begin, kNoOther,
                                   [&](std::int64_t, std::int64_t tile, std::int64_t source) {
                                     return rows.others[source] - tile * laid.layout.tile_width;
                                   });
    laid.layout.fill<std::int64_t>(
        begin, end, laid.sources.data() + begin, kNoOther,
        [](std::int64_t, std::int64_t, std::int64_t source) { return source; });
  }
  return laid;
}

// Every rating is in one task, of its row and tile; slots of a row are in the order of its tasks.
void expect_all_ratings_once(const Laid& laid, const LayoutRule& rule) {
  const Layout& layout = laid.layout;
  const SideRows& rows = layout.from;
  AlignedVector<int> seen(rows.nnz(), 0);
  std::vector<std::int64_t> next(layout.slots.begin(), layout.slots.end());
  for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
    for (std::int64_t t = layout.tile_tasks[tile]; t < layout.tile_tasks[tile + 1]; ++t) {
      const Task& task = layout.tasks[t];
      ASSERT_GT(task.units, 0);
      ASSERT_LE(task.units, rule.task_units);
      ASSERT_EQ(task.slot, next[task.row]++);
      const std::int64_t begin = task.begin * rule.unit;
      for (std::int64_t at = begin; at < begin + task.units * rule.unit; ++at) {
        const std::int64_t source = laid.sources[at];
        ASSERT_EQ(source == kNoOther, laid.others[at] == kNoOther);
        if (source == kNoOther) continue;
        ++seen[source];
        ASSERT_GE(source, rows.offsets[task.row]);
        ASSERT_LT(source, rows.offsets[task.row + 1]);
        ASSERT_GE(laid.others[at], 0);
        ASSERT_LT(laid.others[at], layout.tile_width);
        ASSERT_EQ(laid.others[at] + tile * layout.tile_width, rows.others[source]);
      }
    }
  }
  for (const int times : seen) ASSERT_EQ(times, 1);
  for (std::int64_t row = 0; row < layout.rows(); ++row) {
    ASSERT_EQ(next[row], layout.slots[row + 1]);
  }
  ASSERT_LE(layout.size(), rows.nnz() + (rule.unit - 1) * std::ssize(layout.tasks));
}

TEST(CcdLayout, EveryRatingIsInOneTaskOfItsRowAndTile) {
  const Ratings train = test::planted(700, 300, 0.3, 1);
  for (const LayoutRule rule : {LayoutRule{65535, 1, 8192}, LayoutRule{100, 1, 7},
                                LayoutRule{100, 4, 256}, LayoutRule{150, 4, 3}}) {
    for (const bool users : {true, false}) {
      for (const std::int64_t chunk : {7, 4096, 1 << 20}) {
        const Laid laid = lay(train, users, rule, chunk);
        const std::int64_t others = users ? 300 : 700;
        const std::int64_t tiles = (others + rule.widest - 1) / rule.widest;
        const std::int64_t rows = users ? 700 : 300;
        EXPECT_EQ(laid.layout.tiles, train.nnz() / kLeastSegment >= rows * tiles ? tiles : 1);
        expect_all_ratings_once(laid, rule);
      }
    }
  }
}

TEST(CcdLayout, ShortSegmentsAreNotWorthTheirTiles) {
  const Ratings train = test::planted(70, 900, 0.3, 2);  // 270 ratings a user
  EXPECT_EQ(lay(train, true, {150, 1, 64}, 999).layout.tiles, 6);
  EXPECT_EQ(lay(train, true, {100, 1, 64}, 999).layout.tiles, 1);  // 9 tiles of 30
  EXPECT_EQ(lay(train, true, {100, 1, 64}, 999).layout.tile_width, 900);
  EXPECT_TRUE(lay(train, true, {100, 1, 64}, 999).layout.narrow());
}

TEST(CcdLayout, EmptyMatricesAndRows) {
  const Ratings none = test::ratings_of(3, 2, {});
  EXPECT_EQ(lay(none, true, {10, 4, 8}, 5).layout.size(), 0);
  EXPECT_EQ(std::ssize(lay(none, false, {10, 4, 8}, 5).layout.tasks), 0);
  const Ratings two = test::ratings_of(4, 5, {{1, 4, 2.0F}, {3, 0, 1.0F}});
  const Laid laid = lay(two, true, {2, 4, 8}, 3);
  EXPECT_EQ(laid.layout.size(), 8);
  EXPECT_EQ(std::ssize(laid.layout.tasks), 2);
  expect_all_ratings_once(laid, {2, 4, 8});
}

}  // namespace
}  // namespace mf::ccd
