#include "algorithms/ccd/gpu/pieces.hpp"

#include <algorithm>

namespace mf::ccd {

Pieces cut_pieces(View<const std::int64_t> tile_begins, std::int64_t blocks) {
  const std::int64_t tiles = tile_begins.size() - 1;
  const Range whole = {0, tile_begins[tiles]};
  Pieces out;
  std::int64_t tile = 0;
  for (std::int64_t block = 0; block < blocks; ++block) {
    out.of_block.push_back(static_cast<std::int32_t>(out.pieces.size()));
    const Range share = part_of(whole, block, blocks);
    for (; tile < tiles; ++tile) {
      const Range quads = {std::max(share.begin, tile_begins[tile]),
                           std::min(share.end, tile_begins[tile + 1])};
      if (quads.begin < quads.end) out.pieces.push_back({quads, tile});
      if (tile_begins[tile + 1] > share.end) break;  // the next block continues this tile
    }
  }
  out.of_block.push_back(static_cast<std::int32_t>(out.pieces.size()));
  return out;
}

}  // namespace mf::ccd
