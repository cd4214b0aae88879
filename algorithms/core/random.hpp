// Random numbers of kernels, the same on host and device: draws without a state, and orders that
// are computed, not stored. (base/rng.hpp has mix64, and the generator of the host.)
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/rng.hpp"

namespace mf {

// Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as
// 1, 2, 3", SC 2011): a counter and a key in, 128 random bits out, no state.
struct Philox {
  std::uint32_t counter[4];
  std::uint32_t key[2];

  MF_HD void round() {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * counter[2];
    const std::uint32_t c1 = counter[1];
    const std::uint32_t c3 = counter[3];
    counter[0] = static_cast<std::uint32_t>(b >> 32) ^ c1 ^ key[0];
    counter[1] = static_cast<std::uint32_t>(b);
    counter[2] = static_cast<std::uint32_t>(a >> 32) ^ c3 ^ key[1];
    counter[3] = static_cast<std::uint32_t>(a);
  }

  MF_HD void run() {
    for (int i = 0; i < 10; ++i) {
      round();
      key[0] += 0x9E3779B9U;
      key[1] += 0xBB67AE85U;
    }
  }
};

// 32 random bits of (seed, row, iteration).
MF_HD std::uint32_t random_bits(std::uint64_t seed, std::int32_t row, std::int64_t iteration) {
  const auto number = static_cast<std::uint64_t>(iteration);
  Philox philox{{static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(number),
                 static_cast<std::uint32_t>(number >> 32), 0},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  philox.run();
  return philox.counter[0];
}

// [0, count) from 32 random bits, count >= 1; the bias is below count / 2^32.
MF_HD std::int64_t pick(std::uint32_t bits, std::int64_t count) {
  return static_cast<std::int64_t>((std::uint64_t{bits} * static_cast<std::uint64_t>(count)) >> 32);
}

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

  MF_HD std::int64_t operator()(std::int64_t at) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
    auto i = static_cast<std::uint64_t>(at);
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
    return static_cast<std::int64_t>(i);
  }
};

// A new order of `count` things for each epoch.
inline Permutation epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
  return Permutation::of(count,
                         mix64(seed + 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(epoch)));
}

}  // namespace mf
