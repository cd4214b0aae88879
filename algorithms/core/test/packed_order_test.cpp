// The pieces of both orders hold the ratings of their rows, in order.
#include "algorithms/core/streaming/packed_order.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "testing/triples.hpp"

namespace mf {
namespace {

// User 0 and item 1 have no ratings; user 1 and item 2 have the most. Values need no table of their
// own, or are too many for one.
Ratings sample(bool many_values) {
  const Ratings all = test::planted(37, 53, 0.3, 4, 1, 0.5);
  std::vector<Rating> list;
  for (std::int64_t k = 0; k < all.nnz(); ++k) {
    const Rating r = all[k];
    list.push_back({r.user, r.item, many_values ? r.value : static_cast<float>(k % 5)});
  }
  return test::ratings_of(37, 53, list);
}

void expect_order(PackedOrder& order, View<const std::int64_t> offsets,
                  View<const std::int32_t> others, View<const float> values) {
  ASSERT_TRUE(std::ranges::equal(order.offsets, offsets));
  for (const std::int64_t most : {1, 7, 20, 64, 100, 1'000'000}) {
    order.cut(most);
    std::int64_t row = 0, at = 0, empty = 0;
    for (std::int64_t number = 0; number < order.pieces(); ++number) {
      const PackedPiece piece = order.piece(number);
      ASSERT_EQ(piece.first_row, row);
      ASSERT_EQ(piece.first, at);
      ASSERT_GT(piece.rows, 0);
      row += piece.rows;
      ASSERT_EQ(piece.first + piece.count, offsets[row]);
      EXPECT_TRUE(piece.count <= most || piece.rows == 1) << most;
      empty += piece.count == 0 ? 1 : 0;
      // As a copy of only these words has them, with two behind the last.
      std::vector<std::uint64_t> words(piece.words, piece.words + piece.n_words);
      words.resize(words.size() + 2, ~std::uint64_t{0});
      for (std::int64_t i = 0; i < piece.count; ++i, ++at) {
        const RowRating one =
            unpacked(order.packed->form, order.packed->table.data(), words.data(), piece.skip + i);
        ASSERT_EQ(one.other, others[at]) << most << " " << at;
        ASSERT_EQ(one.value, values[at]) << most << " " << at;
      }
    }
    EXPECT_EQ(row, offsets.size() - 1);
    EXPECT_EQ(at, values.size());
    EXPECT_EQ(order.pieces() == 1, most == 1'000'000);
    EXPECT_TRUE(most > 1 || empty > 0) << "a row without ratings before a long one";
  }
}

TEST(PackedOrder, PiecesHaveTheRatingsOfTheirRows) {
  ThreadTeam team(2);
  for (const bool many_values : {false, true}) {
    Ratings train = sample(many_values);
    const Csc columns = make_csc(train, 1);
    for (const bool kept : {false, true}) {
      if (kept) train.keep_packed(team);
      PackedOrder rows = pack_rows(train, team);
      EXPECT_EQ(rows.packed.get() == train.packed(), kept);
      EXPECT_EQ(rows.packed->form.has_table(), !many_values);
      EXPECT_EQ(rows.longest_row(), 52);
      expect_order(rows, train.user_offsets(), train.items(), train.values());
    }
    PackedOrder by_item = pack_columns(train, team);
    EXPECT_EQ(by_item.longest_row(), 36);
    expect_order(by_item, columns.item_offsets, columns.users, columns.values);
  }
}

TEST(PackedOrder, UsersThatAreNotMadeStayUnmade) {
  ThreadTeam team(2);
  const Ratings made = sample(false);
  Ratings::Views views = made.views();
  views.users = {};
  const Ratings train(views, nullptr);
  const Csc columns = make_csc(made, 1);
  PackedOrder order = pack_columns(train, team);
  expect_order(order, columns.item_offsets, columns.users, columns.values);
  EXPECT_FALSE(train.has_users());
}

TEST(PackedOrder, NoRatingsAreOnePiece) {
  ThreadTeam team(1);
  const Ratings none = test::ratings_of(3, 2, {});
  for (PackedOrder order : {pack_rows(none, team), pack_columns(none, team)}) {
    order.cut(10);
    ASSERT_EQ(order.pieces(), 1);
    EXPECT_EQ(order.piece(0).count, 0);
    EXPECT_EQ(order.longest_row(), 0);
  }
}

}  // namespace
}  // namespace mf
