// Which items a user of a look-alike rates: distinct ones, drawn by popularity.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "base/view.hpp"
#include "datasets/synthetic/synthetic_profile.hpp"

namespace mf::synthetic {

// Walker's alias method (Vose's construction): a draw costs one random number and one table entry.
class AliasTable {
 public:
  explicit AliasTable(std::span<const double> weights);
  std::int32_t draw(Rng& rng) const {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(rng()) * entries_.size();
    const auto slot = static_cast<std::int64_t>(product >> 64);
    const auto coin = static_cast<std::uint32_t>(static_cast<std::uint64_t>(product) >> 32);
    const Entry& entry = entries_[slot];
    return coin < entry.threshold ? static_cast<std::int32_t>(slot) : entry.alias;
  }

 private:
  struct Entry {
    std::uint32_t threshold;  // the slot keeps its own item with probability threshold / 2^32
    std::int32_t alias;
  };
  std::vector<Entry> entries_;
};

// The items of a look-alike: their places between least and most popular, and what follows.
class ItemCatalog {
 public:
  ItemCatalog(const Profile& profile, const Shape& shape, std::uint64_t seed);

  std::int32_t size() const { return static_cast<std::int32_t>(weights_.size()); }
  double place(std::int32_t item) const;  // in (0, 1), evenly spaced over the items
  std::span<const double> weights() const { return weights_; }
  const AliasTable& alias() const { return alias_; }

  // Items that the user owning the ratings [begin, end) must rate. Over all users every item is
  // owed exactly once, and nobody owes more than end - begin.
  View<const std::int32_t> owed(std::int64_t begin, std::int64_t end) const;

 private:
  std::vector<std::int32_t> ranks_;  // of each item, 0 the least popular
  std::vector<double> weights_;
  std::vector<std::int32_t> owed_order_;
  AliasTable alias_;
  std::int64_t nnz_;
};

// Draws sets of distinct items. Holds a bitmap of the items: one sampler a thread.
class ItemSampler {
 public:
  explicit ItemSampler(const ItemCatalog& catalog);

  // Fills out with ascending items: the owed ones and then, one after another, items drawn with
  // probability proportional to their weight among those not yet drawn.
  void draw(View<const std::int32_t> owed, Rng& rng, View<std::int32_t> out);

 private:
  bool insert(std::int32_t item);
  void insert_by_keys(std::int64_t missing, Rng& rng);
  void take_ascending(View<std::int32_t> out);

  const ItemCatalog& catalog_;
  std::vector<std::uint64_t> bitmap_;
  std::vector<std::pair<double, std::int32_t>> keys_;
};

}  // namespace mf::synthetic
