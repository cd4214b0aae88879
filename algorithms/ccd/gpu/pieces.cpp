#include "algorithms/ccd/gpu/pieces.hpp"

#include <algorithm>

namespace mf::ccd {

Shares cut_shares(View<const TileTasks> tiles, std::int64_t blocks) {
  std::vector<std::int64_t> costs = {0};  // of the tiles before
  for (const TileTasks& tile : tiles) costs.push_back(costs.back() + tile.cost());
  Shares out;
  std::int64_t tile = 0;
  for (std::int64_t block = 0; block < blocks; ++block) {
    out.of_block.push_back(static_cast<std::int32_t>(out.shares.size()));
    const std::int64_t begin = block * costs.back() / blocks;
    const std::int64_t end = (block + 1) * costs.back() / blocks;
    for (; tile < tiles.size(); ++tile) {
      const std::int64_t whole = tiles[tile].cost();
      const std::int64_t first = std::max<std::int64_t>(0, begin - costs[tile]);
      const std::int64_t last = std::min(whole, end - costs[tile]);
      if (first < last) out.shares.push_back({tile, first, last, whole});
      if (costs[tile + 1] > end) break;  // the next block goes on with this tile
    }
  }
  out.of_block.push_back(static_cast<std::int32_t>(out.shares.size()));
  return out;
}

std::vector<Cut> cuts_of(const Shares& shares, View<const TileTasks> tiles) {
  std::vector<Cut> cuts;
  for (const Share& share : shares.shares) {
    const TileTasks& tile = tiles[share.tile];
    cuts.push_back({tile.begin, tile.middle, share.first, share.whole});
    cuts.push_back({tile.begin, tile.middle, share.last, share.whole});
    cuts.push_back({tile.middle, tile.end, share.first, share.whole});
    cuts.push_back({tile.middle, tile.end, share.last, share.whole});
  }
  return cuts;
}

Pieces make_pieces(const Shares& shares, View<const std::int64_t> cuts) {
  Pieces out;
  for (std::size_t block = 0; block + 1 < shares.of_block.size(); ++block) {
    out.of_block.push_back(static_cast<std::int32_t>(out.pieces.size()));
    for (std::int64_t s = shares.of_block[block]; s < shares.of_block[block + 1]; ++s) {
      const Piece piece = {cuts[4 * s], cuts[4 * s + 1], cuts[4 * s + 2], cuts[4 * s + 3],
                           shares.shares[s].tile};
      if (piece.long_begin < piece.long_end || piece.short_begin < piece.short_end) {
        out.pieces.push_back(piece);
      }
    }
  }
  out.of_block.push_back(static_cast<std::int32_t>(out.pieces.size()));
  return out;
}

}  // namespace mf::ccd
