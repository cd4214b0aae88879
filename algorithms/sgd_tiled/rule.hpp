// The order inside a user's row, and the thinning of popular items, for kernels and tests.
// (core/sgd/sgd_rule.hpp has the update.)
#pragma once

#include <cstdint>

#include "algorithms/sgd_tiled/tiles.hpp"
#include "base/host_device.hpp"
#include "base/rng.hpp"

namespace mf::sgd_tiled {

MF_HD std::int64_t greatest_divisor(std::int64_t a, std::int64_t b) {
  while (b != 0) {
    const std::int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// An item and its thinning in one word: 2^exponent updates of the item, one of which is written.
// (Settings::thin_above.)
constexpr int kItemBits = 28;
constexpr std::int64_t kMaxItems = std::int64_t{1} << kItemBits;
constexpr std::int32_t kMaxExponent = 7;

MF_HD std::int32_t marked_item(std::int32_t item, std::int32_t exponent) {
  return item | exponent << kItemBits;
}
MF_HD std::int32_t item_of(std::int32_t marked) { return marked & ((1 << kItemBits) - 1); }

// Whether the rating at this place of its user's row writes its item in this epoch: each in one
// epoch of 2^exponent, neighbours in different ones.
MF_HD bool writes_item(std::int32_t marked, std::int64_t place, std::uint32_t epoch) {
  const std::uint32_t mask = (1U << (marked >> kItemBits)) - 1;
  return ((static_cast<std::uint32_t>(place) + epoch) & mask) == 0;
}

// The order of a user's ratings: a bijection of [0, count) that leads from one end of the row to
// the other, so that a chunk holds items from all over the catalogue.
MF_HD Order row_order(std::int64_t count, std::uint64_t seed, std::int64_t user) {
  Order order;
  if (count <= 2) return order;
  const std::uint64_t bits =
      mix64(seed + 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(user + 1));
  const auto n = static_cast<std::uint64_t>(count);
  order.shift = static_cast<std::int64_t>((bits & 0xffffffffU) % n);
  order.multiplier = static_cast<std::int64_t>(1 + (bits >> 32) % (n - 1));
  while (greatest_divisor(order.multiplier, count) != 1) ++order.multiplier;
  return order;
}

}  // namespace mf::sgd_tiled
