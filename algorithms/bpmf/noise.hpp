// The random numbers of a draw, by (seed, sweep, row, element): the same on host and device, for
// any number of threads.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/rng.hpp"

namespace mf::bpmf {

// The draws of a sweep.
enum class Drawn : std::uint64_t { users, items, user_prior, item_prior, alpha };

MF_HD std::uint64_t key_of(std::uint64_t seed, std::int64_t sweep, Drawn what) {
  const auto number = static_cast<std::uint64_t>(sweep) * 8 + static_cast<std::uint64_t>(what);
  return mix64(seed + 0x9e3779b97f4a7c15ULL * (number + 1));
}

// N(0, 1) for element k of a row, k < 512.
MF_HD float noise(std::uint64_t key, std::int64_t row, std::int32_t k) {
  const auto number = static_cast<std::uint64_t>(row) * 512 + static_cast<std::uint64_t>(k);
  return static_cast<float>(Rng(key, number).normal());
}

}  // namespace mf::bpmf
