// The order of a ranking as numbers: a greater key goes first.
//
// For items with one score the order is drawn: by a hash of a seed, the user and the item. The
// numbers of items mean nothing, or too much: many data sets number popular items first.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/rng.hpp"

namespace mf {

using RankKey = unsigned long long;

// The key of no item: below the key of every score that is finite.
inline constexpr RankKey kNoKey = 0;

// ---- equal scores ----

// Which order of the items a user's draw is.
using TieKey = std::uint32_t;

MF_HD constexpr TieKey tie_key(std::uint64_t seed, std::int32_t user) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  return static_cast<TieKey>(mix64(mix64(seed + kOdd) + static_cast<std::uint64_t>(user) * kOdd));
}

// Such that odd * inverse_of(odd) is 1, modulo 2^32: each step doubles the digits that are right.
constexpr std::uint32_t inverse_of(std::uint32_t odd) {
  std::uint32_t x = odd;
  for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
  return x;
}

inline constexpr std::uint32_t kTieA = 0x7feb352dU;
inline constexpr std::uint32_t kTieB = 0xc2b2ae35U;
inline constexpr std::uint32_t kInverseOfA = inverse_of(kTieA);
inline constexpr std::uint32_t kInverseOfB = inverse_of(kTieB);

// The place of an item in that order: a number unique to the item.
MF_HD constexpr std::uint32_t tie_place(std::int32_t item, TieKey key) {
  std::uint32_t x = static_cast<std::uint32_t>(item) ^ key;
  x = (x ^ (x >> 16)) * kTieA;
  x = (x ^ (x >> 16)) * kTieB;
  return x ^ (x >> 16);
}

constexpr std::int32_t item_at_place(std::uint32_t place, TieKey key) {
  std::uint32_t x = (place ^ (place >> 16)) * kInverseOfB;
  x = (x ^ (x >> 16)) * kInverseOfA;
  return static_cast<std::int32_t>((x ^ (x >> 16)) ^ key);
}

// ---- keys ----

// Rises with the score, which must be finite; above 0.
MF_HD std::uint32_t score_order(float score) {
  const float plain = score + 0.0F;  // -0 is 0
#ifdef __CUDA_ARCH__
  const std::uint32_t bits = __float_as_uint(plain);
#else
  const auto bits = std::bit_cast<std::uint32_t>(plain);
#endif
  return bits ^ ((bits >> 31) != 0 ? 0xffffffffU : 0x80000000U);
}

// The score that has it; 0 for -0.
MF_HD float score_of_order(std::uint32_t order) {
  const std::uint32_t bits = order ^ ((order >> 31) != 0 ? 0x80000000U : 0xffffffffU);
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

// The first key of a score: of all its items, none is below.
MF_HD constexpr RankKey first_key(std::uint32_t order) { return static_cast<RankKey>(order) << 32; }
MF_HD constexpr std::uint32_t order_of_key(RankKey key) {
  return static_cast<std::uint32_t>(key >> 32);
}

// Higher scores first, then later places.
MF_HD constexpr RankKey rank_key(std::uint32_t order, std::int32_t item, TieKey key) {
  return first_key(order) | tie_place(item, key);
}
constexpr std::int32_t item_of_key(RankKey rank, TieKey key) {
  return item_at_place(static_cast<std::uint32_t>(rank), key);
}

}  // namespace mf
