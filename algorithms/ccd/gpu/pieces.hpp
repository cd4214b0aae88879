// Which part of a side's stream each warp does. The stream is quads of ratings, one behind the
// other, tile by tile; a warp takes 32 of them at a time, a word. The stream is cut into shares of
// equal length, one for each block. A block's share of a tile is a piece, which its warps share
// equally: a part of it is a warp's range. All cuts within a tile are between words.
#pragma once

#include <cstdint>
#include <vector>

#include "base/host_device.hpp"
#include "base/view.hpp"

namespace mf::ccd {

// Ratings that a lane loads at a time, and the unit of the layout.
inline constexpr std::int64_t kQuad = 4;
inline constexpr std::int64_t kWordQuads = 32;

struct Range {
  std::int64_t begin, end;  // quads
};

// Part `number` of `count`. Some are empty if there are fewer words than parts.
MF_HD Range part_of(Range whole, std::int64_t number, std::int64_t count) {
  const std::int64_t first = whole.begin / kWordQuads;
  const std::int64_t words = (whole.end + kWordQuads - 1) / kWordQuads - first;
  const auto cut = [&](std::int64_t before) {
    const std::int64_t quad = (first + words * before / count) * kWordQuads;
    return quad < whole.begin ? whole.begin : quad > whole.end ? whole.end : quad;
  };
  return {cut(number), cut(number + 1)};
}

struct Piece {
  Range quads;
  std::int64_t tile;
};

struct Pieces {
  std::vector<Piece> pieces;
  std::vector<std::int32_t> of_block;  // blocks + 1: first piece of each block
};

// The unit of a warp's sums: the part of a segment that is in its range. Tasks are numbered in the
// order of the stream.
struct StreamTask {
  std::int32_t row;
  std::uint32_t slot;  // of its sums: those of a row are neighbours, in the order of the stream
  bool operator==(const StreamTask&) const = default;
};

// tile_begins: the first quad of each tile, and how many there are.
Pieces cut_pieces(View<const std::int64_t> tile_begins, std::int64_t blocks);

}  // namespace mf::ccd
