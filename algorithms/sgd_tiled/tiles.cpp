#include "algorithms/sgd_tiled/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "algorithms/sgd_tiled/rule.hpp"
#include "base/rng.hpp"

namespace mf::sgd_tiled {
namespace {

constexpr std::uint64_t kOrderSalt = 0x6f72646572ULL;

struct KeyedChunk {
  std::uint64_t key;
  Chunk chunk;
};

// In the order of their keys, equal ones by user and piece.
std::vector<KeyedChunk> sorted_chunks(View<const std::int64_t> offsets, int longest,
                                      std::uint64_t seed) {
  std::vector<KeyedChunk> chunks;
  const auto users = static_cast<std::int32_t>(offsets.size()) - 1;
  for (std::int32_t user = 0; user < users; ++user) {
    const std::int64_t count = offsets[user + 1] - offsets[user];
    const std::int64_t pieces = pieces_of_user(count, longest);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const Chunk chunk = chunk_of_user(user, offsets[user], count, piece, pieces);
      chunks.push_back({chunk_key(seed, chunk, piece, longest), chunk});
    }
  }
  std::stable_sort(chunks.begin(), chunks.end(),
                   [](const KeyedChunk& a, const KeyedChunk& b) { return a.key < b.key; });
  return chunks;
}

}  // namespace

Tiles make_tiles(View<const std::int64_t> user_offsets, int longest, int bundle_size,
                 std::uint64_t seed) {
  const std::vector<KeyedChunk> sorted = sorted_chunks(user_offsets, longest, seed);
  Tiles tiles;
  tiles.bundle_size = bundle_size;
  const std::int64_t bundles = (std::ssize(sorted) + bundle_size - 1) / bundle_size;
  const Permutation order = bundle_order(bundles, seed);
  tiles.chunks.assign(bundles * bundle_size, Chunk{0, 0, 0});
  for (std::int64_t at = 0; at < std::ssize(tiles.chunks); ++at) {
    const std::int64_t from = order(at / bundle_size) * bundle_size + at % bundle_size;
    if (from < std::ssize(sorted)) tiles.chunks[at] = sorted[from].chunk;
  }
  return tiles;
}

Thinning thin_items(View<const std::int64_t> counts, std::int64_t above) {
  Thinning thinning;
  auto& exponents = thinning.exponents;
  exponents.assign(counts.size(), std::uint8_t{0});
  double ratings = 0;
  double writes = 0;
  for (std::int64_t i = 0; i < counts.size(); ++i) {
    if (above > 0) {
      while (counts[i] >> exponents[i] > above && exponents[i] < kMaxExponent) ++exponents[i];
    }
    ratings += static_cast<double>(counts[i]);
    writes += std::ldexp(static_cast<double>(counts[i]), -exponents[i]);
  }
  if (ratings > 0) thinning.writes_made = writes / ratings;
  return thinning;
}

Order epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
  if (count <= 1) return {};
  Rng rng(seed ^ kOrderSalt, static_cast<std::uint64_t>(epoch));
  Order order;
  order.shift = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(count)));
  // Far from 1 and from count, so that neighbours do not stay neighbours.
  const auto half = static_cast<std::uint64_t>(count) / 2 + 1;
  order.multiplier = static_cast<std::int64_t>(half / 2 + rng.below(half));
  order.multiplier = std::clamp<std::int64_t>(order.multiplier, 1, count - 1);
  while (std::gcd(order.multiplier, count) != 1) ++order.multiplier;
  return order;
}

}  // namespace mf::sgd_tiled
