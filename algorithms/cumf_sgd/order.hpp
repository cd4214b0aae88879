// Random orders that are computed, not stored: the same on host and device.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/rng.hpp"

namespace mf::cumf_sgd {

// A random bijection of [0, count): a Feistel network of six rounds on the smallest square of a
// power of two that holds count, walked until it ends inside [0, count) (cycle walking: at most
// four steps on average).
struct Permutation {
  std::uint64_t count;
  std::uint64_t seed;
  int half_bits;

  static Permutation of(std::int64_t count, std::uint64_t seed) {
    int half = 1;
    while ((std::uint64_t{1} << (2 * half)) < static_cast<std::uint64_t>(count)) ++half;
    return {static_cast<std::uint64_t>(count), seed, half};
  }

  MF_HD std::uint64_t operator()(std::uint64_t i) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
    do {
      std::uint64_t left = i >> half_bits;
      std::uint64_t right = i & mask;
      for (std::uint64_t round = 0; round < 6; ++round) {
        const std::uint64_t next =
            left ^ (mix64(right + (round + 1) * 0x9e3779b97f4a7c15ULL + seed) & mask);
        left = right;
        right = next;
      }
      i = left << half_bits | right;
    } while (i >= count);
    return i;
  }
};

// The seed of the permutation in which the worker of a band walks the columns; `pass` is of the
// epoch.
MF_HD std::uint64_t walk_seed(std::uint64_t seed, std::int64_t band, std::uint32_t pass) {
  return mix64(seed + static_cast<std::uint64_t>(band) * 0x9e37ULL + pass);
}

// A uniform number in [0, count) for (seed, epoch, slot).
MF_HD std::uint64_t draw(std::uint64_t seed, std::uint64_t epoch, std::uint64_t slot,
                         std::uint64_t count) {
  const std::uint64_t bits = mix64(mix64(seed + epoch * 0x9e3779b97f4a7c15ULL) + slot);
  return (bits >> 32) * count >> 32;
}

}  // namespace mf::cumf_sgd
