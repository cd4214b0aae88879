// Random numbers that are the same on every machine and for any number of threads: every stream is
// named by (seed, stream), so work can be cut anywhere.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/portable_math.hpp"

namespace mf {

// Stafford's variant 13 of the murmur finalizer, the mixer of SplitMix64.
MF_HD constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// xoshiro256** (Blackman and Vigna), seeded through SplitMix64. Satisfies
// UniformRandomBitGenerator.
class Rng {
 public:
  using result_type = std::uint64_t;
  MF_HD explicit constexpr Rng(std::uint64_t seed, std::uint64_t stream = 0) {
    std::uint64_t x =
        mix64(seed + 0x9e3779b97f4a7c15ULL) ^ mix64(stream * 0xd1342543de82ef95ULL + 1);
    for (auto& word : state_) {
      x += 0x9e3779b97f4a7c15ULL;
      word = mix64(x);
    }
  }
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~std::uint64_t{0}; }

  MF_HD constexpr result_type operator()() {
    const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  // [0, 1), 53 bits
  MF_HD constexpr double uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

  // [0, n), by Lemire's multiplication; the bias is below n / 2^64.
  constexpr std::uint64_t below(std::uint64_t n) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>((*this)()) * n) >> 64);
  }

  // N(0, 1), Box-Muller; one of the pair is dropped so that a draw depends only on its position.
  MF_HD double normal() {
    const double u = 1.0 - uniform();
    const double v = uniform();
    return std::sqrt(-2.0 * portable::log(u)) * portable::cos_of_turns(v);
  }

 private:
  MF_HD static constexpr std::uint64_t rotl(std::uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
  }
  std::uint64_t state_[4]{};
};

}  // namespace mf
