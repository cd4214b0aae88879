// The work of the blocks and warps of ccd++.
#include "algorithms/ccd/gpu/pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace mf::ccd {
namespace {

// No part is more than two words longer than its share, and cuts within `whole` are between words.
void expect_parts(const Range& whole, std::int64_t count) {
  const std::int64_t share = (whole.end - whole.begin) / count;
  std::int64_t at = whole.begin;
  for (std::int64_t part = 0; part < count; ++part) {
    const Range range = part_of(whole, part, count);
    ASSERT_EQ(range.begin, at);
    ASSERT_LE(range.begin, range.end);
    ASSERT_LE(range.end - range.begin, share + 2 * kWordQuads);
    at = range.end;
    if (at != whole.begin && at != whole.end) {
      ASSERT_EQ(at % kWordQuads, 0);
    }
  }
  ASSERT_EQ(at, whole.end);
}

TEST(CcdPieces, PartsOfARangeAreEqualAndWholeWords) {
  for (const Range whole : {Range{0, 0}, Range{0, 1}, Range{31, 33}, Range{7, 5000}, Range{64, 96},
                            Range{(std::int64_t{1} << 40) + 5, (std::int64_t{1} << 40) + 70'001}}) {
    for (const std::int64_t count : {1, 2, 7, 32, 132}) {
      SCOPED_TRACE(testing::Message() << whole.begin << " to " << whole.end << " by " << count);
      expect_parts(whole, count);
    }
  }
}

TEST(CcdPieces, EveryQuadIsInOnePieceOfItsTile) {
  const std::vector<std::vector<std::int64_t>> all = {
      {0, 100'000}, {0, 33, 40'000, 40'000, 40'001, 90'017}, {0, 0, 5}, {0, 1, 2, 3, 4, 5}};
  for (const auto& tile_begins : all) {
    for (const std::int64_t blocks : {1, 2, 7, 132, 5000}) {
      SCOPED_TRACE(testing::Message() << tile_begins.back() << " quads, " << blocks << " blocks");
      const Pieces cut = cut_pieces(View<const std::int64_t>(tile_begins), blocks);
      ASSERT_EQ(std::ssize(cut.of_block), blocks + 1);
      ASSERT_EQ(cut.of_block.front(), 0);
      ASSERT_EQ(cut.of_block.back(), std::ssize(cut.pieces));
      std::int64_t at = 0;
      for (std::int64_t block = 0; block < blocks; ++block) {
        std::int64_t quads = 0;
        for (std::int32_t p = cut.of_block[block]; p < cut.of_block[block + 1]; ++p) {
          const Piece& piece = cut.pieces[p];
          ASSERT_EQ(piece.quads.begin, at);
          ASSERT_LT(piece.quads.begin, piece.quads.end);
          ASSERT_GE(piece.quads.begin, tile_begins[piece.tile]);
          ASSERT_LE(piece.quads.end, tile_begins[piece.tile + 1]);
          quads += piece.quads.end - piece.quads.begin;
          at = piece.quads.end;
        }
        ASSERT_LE(quads, tile_begins.back() / blocks + 2 * kWordQuads);
      }
      ASSERT_EQ(at, tile_begins.back());
    }
  }
}

TEST(CcdPieces, NothingToCut) {
  const std::vector<std::int64_t> none = {0, 0};
  const Pieces cut = cut_pieces(View<const std::int64_t>(none), 5);
  EXPECT_TRUE(cut.pieces.empty());
  EXPECT_EQ(cut.of_block, std::vector<std::int32_t>({0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace mf::ccd
