// The order of sgd_tiled by a sort on the host: what device_tiles.hpp makes on the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithms/sgd_tiled/tiles.hpp"

namespace mf::sgd_tiled {

// Bundles of `bundle_size` chunks each.
inline std::vector<Chunk> host_tiles(View<const std::int64_t> offsets, int longest, int bundle_size,
                                     std::uint64_t seed) {
  std::vector<std::pair<std::uint64_t, Chunk>> sorted;
  for (std::int32_t user = 0; user + 1 < offsets.size(); ++user) {
    const std::int64_t count = offsets[user + 1] - offsets[user];
    const std::int64_t pieces = pieces_of_user(count, longest);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const Chunk chunk = chunk_of_user(user, offsets[user], count, piece, pieces);
      sorted.emplace_back(chunk_key(seed, chunk, piece, longest), chunk);
    }
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::int64_t bundles = (std::ssize(sorted) + bundle_size - 1) / bundle_size;
  const Permutation order = bundle_order(bundles, seed);
  std::vector<Chunk> chunks(bundles * bundle_size, Chunk{0, 0, 0});
  for (std::int64_t at = 0; at < std::ssize(chunks); ++at) {
    const std::int64_t from = order(at / bundle_size) * bundle_size + at % bundle_size;
    if (from < std::ssize(sorted)) chunks[at] = sorted[from].second;
  }
  return chunks;
}

}  // namespace mf::sgd_tiled
