// The order of a ranking as numbers: a greater key goes first. And the network that sorts them, as
// index maths that tests run on the host.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.hpp"

namespace mf {

using RankKey = unsigned long long;

// Of nothing: below the key of every score that is finite.
inline constexpr RankKey kNoKey = 0;

// Higher scores first, then smaller items. The score must be a number.
MF_HD RankKey rank_key(float score, std::int32_t item) {
  const float plain = score + 0.0F;  // -0 is 0
#ifdef __CUDA_ARCH__
  std::uint32_t bits = __float_as_uint(plain);
#else
  auto bits = std::bit_cast<std::uint32_t>(plain);
#endif
  bits ^= (bits >> 31) != 0 ? 0xffffffffU : 0x80000000U;
  return (static_cast<RankKey>(bits) << 32) | (0xffffffffU - static_cast<std::uint32_t>(item));
}

MF_HD std::int32_t item_of_key(RankKey key) {
  return static_cast<std::int32_t>(0xffffffffU - static_cast<std::uint32_t>(key));
}

// Pair t of a step of a bitonic network of n elements, t in [0, n / 2): elements `low` and
// low + stride are put in falling order, or, where `rising`, in rising order. Steps: size = 2, 4,
// ..., n, and for each stride = size / 2, ..., 1. n is a power of 2.
struct SortPair {
  int low;
  bool rising;
};
MF_HD SortPair sort_pair(int t, int size, int stride) {
  const int low = 2 * t - (t & (stride - 1));
  return {low, (low & size) != 0};
}

}  // namespace mf
