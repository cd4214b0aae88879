// The order of sgd_tiled: each user's ratings cut into chunks, chunks of equal length bundled for
// the lanes of a warp, bundles in random order.
#pragma once

#include <cstdint>

#include "algorithms/core/random.hpp"
#include "base/aligned.hpp"
#include "base/host_device.hpp"
#include "base/view.hpp"

namespace mf::sgd_tiled {

struct Chunk {
  std::int64_t begin;  // into the ratings, by user
  std::int32_t user;
  std::int32_t count;  // 0: fills up a bundle
  bool operator==(const Chunk&) const = default;
};

// Every rating is in exactly one chunk of at most `longest` ratings; chunks of one user differ by
// at most one rating. Chunks of a bundle differ little in length, since the lanes of a warp wait
// for the longest.
//
// Pieces of a user of `count` ratings, as equal as can be, none for none.
MF_HD std::int64_t pieces_of_user(std::int64_t count, int longest) {
  return (count + longest - 1) / longest;
}
MF_HD Chunk chunk_of_user(std::int32_t user, std::int64_t begin, std::int64_t count,
                          std::int64_t piece, std::int64_t pieces) {
  const std::int64_t from = count * piece / pieces;
  return {begin + from, user, static_cast<std::int32_t>(count * (piece + 1) / pieces - from)};
}
// The longest first, equal ones at random, so that the chunks of a user do not run together.
MF_HD std::uint64_t chunk_key(std::uint64_t seed, const Chunk& chunk, std::int64_t piece,
                              int longest) {
  const std::uint64_t of_user =
      mix64(seed ^
            (0x74696c6573ULL + 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(chunk.user + 1)));
  const std::uint64_t random = mix64(of_user + static_cast<std::uint64_t>(piece)) >> 32;
  return static_cast<std::uint64_t>(longest - chunk.count) << 32 | random;
}
// Bundle i holds the sorted chunks at bundle_order(i).
inline Permutation bundle_order(std::int64_t bundles, std::uint64_t seed) {
  return Permutation::of(bundles, seed ^ 0x6f72646572ULL);
}

struct Thinning {
  // By how many powers of two the updates of an item are thinned: 0 for up to `above` ratings, 1 up
  // to twice that, and so on, at most kMaxExponent. All 0 if `above` is 0.
  AlignedVector<std::uint8_t> exponents;
  double writes_made = 1;  // share of the updates that write their item, over all epochs
};
// counts: the ratings of each item.
Thinning thin_items(View<const std::int64_t> counts, std::int64_t above);

// i -> (multiplier * i + shift) mod count, a bijection of [0, count): a new order of the bundles
// for each epoch.
struct Order {
  std::int64_t multiplier = 1;
  std::int64_t shift = 0;
};
Order epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch);

// Places of that order.
struct BundleRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};
// The bundles of a lap, of `laps` that together have each of `count` once; they differ by one at
// most.
constexpr BundleRange range_of_lap(std::int64_t count, int lap, int laps) {
  return {count * lap / laps, count * (lap + 1) / laps};
}

}  // namespace mf::sgd_tiled
