// Which items a user of a look-alike rates: distinct ones, drawn by popularity and by liking.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "base/view.hpp"
#include "datasets/synthetic/alias_table.hpp"
#include "datasets/synthetic/synthetic_profile.hpp"
#include "datasets/synthetic/synthetic_tastes.hpp"

namespace mf::synthetic {

// The items of a look-alike: their places between least and most popular, and derived facts.
class ItemCatalog {
 public:
  ItemCatalog(const Profile& profile, const Shape& shape, std::uint64_t seed);

  std::int32_t size() const { return static_cast<std::int32_t>(weights_.size()); }
  double place(std::int32_t item) const;  // in (0, 1), evenly spaced over the items
  std::span<const double> weights() const { return weights_; }
  const AliasTable& alias() const { return alias_; }
  const Tastes& tastes() const { return tastes_; }
  bool choosy() const { return choosy_; }  // users take few of the items that they meet

  // Items that the user owning the ratings [begin, end) must rate. Over all users every item is
  // owed exactly once, and no user owes more than end - begin.
  View<const std::int32_t> owed(std::int64_t begin, std::int64_t end) const;

 private:
  std::vector<std::int32_t> ranks_;  // of each item, 0 the least popular
  std::vector<double> weights_;
  std::vector<std::int32_t> owed_order_;
  AliasTable alias_;
  Tastes tastes_;
  bool choosy_;
  std::int64_t nnz_;
};

// Draws sets of distinct items. Holds a bitmap of the items: one sampler a thread.
class ItemSampler {
 public:
  explicit ItemSampler(const ItemCatalog& catalog);

  // The probability with which the user takes an item met by chance; empty: 1.
  using Chance = std::function<double(std::int32_t)>;

  // Fills out with ascending items: the owed ones and then, one after another, items drawn with
  // probability proportional to their weight times their chance, and to the user's taste if the
  // model has tastes, among those not yet drawn.
  void draw(View<const std::int32_t> owed, const Chance& chance, Rng& rng, View<std::int32_t> out);

  // In how many ways the item is to the taste of the user drawn last; 0 without tastes.
  int matches(std::int32_t item) const {
    return catalog_.tastes().any() ? catalog_.tastes().matches(taste_, item) : 0;
  }

 private:
  bool insert(std::int32_t item);
  // Inserts up to `missing` items of a user who will have `total`; returns how many.
  std::int64_t insert_by_taste(std::int64_t missing, std::int64_t total, Rng& rng);
  void insert_by_keys(std::int64_t missing, const Chance& chance, Rng& rng);
  void take_ascending(View<std::int32_t> out);

  const ItemCatalog& catalog_;
  std::vector<std::uint64_t> bitmap_;
  std::vector<std::pair<double, std::int32_t>> keys_;
  Taste taste_;
};

}  // namespace mf::synthetic
