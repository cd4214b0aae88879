// Random draws, the same numbers on host and device.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace mf::cu2rec {

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

// 32 random bits of (seed, user, iteration).
MF_HD std::uint32_t draw_counter(std::uint64_t seed, std::int32_t user, std::int64_t iteration) {
  const auto number = static_cast<std::uint64_t>(iteration);
  Philox philox{{static_cast<std::uint32_t>(user), static_cast<std::uint32_t>(number),
                 static_cast<std::uint32_t>(number >> 32), 0},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  philox.run();
  return philox.counter[0];
}

// One step of XORWOW (Marsaglia, "Xorshift RNGs", 2003), the generator of cuRAND's default state:
// what curand() returns for the same words.
struct Xorwow {
  std::uint32_t d;
  std::uint32_t v[5];

  MF_HD std::uint32_t next() {
    const std::uint32_t t = v[0] ^ (v[0] >> 2);
    v[0] = v[1];
    v[1] = v[2];
    v[2] = v[3];
    v[3] = v[4];
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
    d += 362437;
    return v[4] + d;
  }
};

// [0, count) from 32 random bits, count >= 1; the bias is below count / 2^32.
MF_HD std::int64_t pick(std::uint32_t bits, std::int64_t count) {
  return static_cast<std::int64_t>((std::uint64_t{bits} * static_cast<std::uint64_t>(count)) >> 32);
}

}  // namespace mf::cu2rec
