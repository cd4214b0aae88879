// The order of sgd_tiled: each user's ratings cut into chunks, chunks of equal length bundled for
// the lanes of a warp, bundles in random order.
#pragma once

#include <cstdint>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf::sgd_tiled {

struct Chunk {
  std::int64_t begin;  // into the ratings, by user
  std::int32_t user;
  std::int32_t count;  // 0: fills up a bundle
};

struct Tiles {
  AlignedVector<Chunk> chunks;  // bundles x bundle_size
  int bundle_size = 1;
  std::int64_t bundles() const { return std::ssize(chunks) / bundle_size; }
};

// Every rating is in exactly one chunk of at most `longest` ratings; chunks of one user differ by
// at most one rating. Chunks of a bundle differ little in length, since the lanes of a warp wait
// for the longest. The result depends on the seed, not on the threads.
Tiles make_tiles(View<const std::int64_t> user_offsets, int longest, int bundle_size,
                 std::uint64_t seed, ThreadTeam& team);

struct Thinning {
  // By how many powers of two the updates of an item are thinned: 0 for up to `above` ratings, 1 up
  // to twice that, and so on, at most kMaxExponent. All 0 where `above` is 0.
  AlignedVector<std::uint8_t> exponents;
  double writes_made = 1;  // share of the updates that write their item, over all epochs
};
Thinning thin_items(View<const std::int32_t> items, std::int32_t n_items, std::int64_t above,
                    ThreadTeam& team);

// i -> (multiplier * i + shift) mod count, a bijection of [0, count): a new order of the bundles
// for each epoch.
struct Order {
  std::int64_t multiplier = 1;
  std::int64_t shift = 0;
};
Order epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch);

}  // namespace mf::sgd_tiled
