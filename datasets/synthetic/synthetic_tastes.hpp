// Tastes make two users of a look-alike of implicit feedback differ in more than their number of
// items.
//
// The items are cut into niches, in several ways (partitions). A user has favourite niches in every
// partition, drawn by the total popularity of their items. An item is then drawn only by popularity
// w, with probability `global`, or by popularity within one of the favourites:
//
//   P(i | u) = global w_i / W + (1 - global) / T  sum over partitions t  s_ut(z) w_i / W_tz,
//
// z the niche of i in t, W_tz the weight of that niche, s_ut(z) the share that u gives it. As
// E[s_ut(z)] = W_tz / W, an item's popularity over all users is w_i / W whatever the tastes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "base/rng.hpp"
#include "datasets/synthetic/alias_table.hpp"
#include "datasets/synthetic/synthetic_profile.hpp"

namespace mf::synthetic {

inline constexpr std::size_t kPartitions = std::tuple_size_v<decltype(TasteLaw::niches)>;

// The favourites of one user.
class Taste {
 public:
  // Number of partitions in which the item is in a favourite niche.
  int matches(std::span<const std::array<std::int32_t, kPartitions>> niche_of,
              std::int32_t item) const {
    int found = 0;
    for (std::size_t t = 0; t < kPartitions; ++t) found += likes(t, niche_of[item][t]) ? 1 : 0;
    return found;
  }

 private:
  friend class Tastes;
  static constexpr int kMost = 32;
  bool likes(std::size_t partition, std::int32_t niche) const {
    for (int k = 0; k < count; ++k) {
      if (niches[partition][k] == niche) return true;
    }
    return false;
  }

  int count = 0;
  std::array<std::array<std::int32_t, kMost>, kPartitions> niches;
};

// 16 bytes an item and partition besides the weights.
class Tastes {
 public:
  Tastes(const TasteLaw& law, std::span<const double> weights, std::uint64_t seed);

  bool any() const { return law_.global < 1; }
  // For a user with that many items: the more, the more favourites.
  Taste draw(std::int64_t items, Rng& rng) const;
  // An item for this user; `all` draws only by popularity.
  std::int32_t draw_item(const Taste& taste, const AliasTable& all, Rng& rng) const;
  int matches(const Taste& taste, std::int32_t item) const {
    return taste.matches(niche_of_, item);
  }

 private:
  struct Niche {
    std::vector<std::int32_t> items;
    AliasTable by_popularity;
  };
  struct Partition {
    AliasTable by_weight;  // of its niches
    std::vector<Niche> niches;
  };
  Partition make_partition(std::size_t t, std::span<const double> weights, std::uint64_t seed);

  TasteLaw law_;
  std::vector<Partition> partitions_;
  std::vector<std::array<std::int32_t, kPartitions>> niche_of_;  // of each item
};

}  // namespace mf::synthetic
