// The random draws of the schedules, the same on host and device.
#pragma once

#include <cstdint>

#include "algorithms/core/random.hpp"

namespace mf::cumf_sgd {

// The seed of the permutation in which the worker of a band walks the columns; `pass` is of the
// epoch.
MF_HD std::uint64_t walk_seed(std::uint64_t seed, std::int64_t band, std::uint32_t pass) {
  return mix64(seed + static_cast<std::uint64_t>(band) * 0x9e37ULL + pass);
}

// A uniform number in [0, count) for (seed, epoch, slot).
MF_HD std::int64_t draw(std::uint64_t seed, std::int64_t epoch, std::int64_t slot,
                        std::int64_t count) {
  const std::uint64_t of_epoch =
      mix64(seed + static_cast<std::uint64_t>(epoch) * 0x9e3779b97f4a7c15ULL);
  return pick(static_cast<std::uint32_t>(mix64(of_epoch + static_cast<std::uint64_t>(slot)) >> 32),
              count);
}

}  // namespace mf::cumf_sgd
