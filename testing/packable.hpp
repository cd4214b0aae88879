// Ratings of all widths that packing knows, and of those beside them, for its tests on both sides.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "base/rng.hpp"

namespace mf::test {

struct Packable {
  std::string name;
  std::int64_t n_items = 1;
  AlignedVector<std::int32_t> items;
  AlignedVector<float> values;
};

// The values that may occur: so many different ones, or any bits at all.
inline std::vector<std::pair<std::string, std::vector<float>>> value_sets(Rng& rng) {
  std::vector<std::pair<std::string, std::vector<float>>> sets = {
      {"one value", {1.0F}},
      {"five stars", {1, 2, 3, 4, 5}},
      {"half stars", {0.5F, 1, 1.5F, 2, 2.5F, 3, 3.5F, 4, 4.5F, 5}},
      {"two zeros", {0.0F, -0.0F}},
      {"odd ones",
       {std::numeric_limits<float>::denorm_min(), -std::numeric_limits<float>::max(),
        std::numeric_limits<float>::infinity(), std::nanf("7"), 1e-20F}}};
  for (const int count : {2, 3, 128, 129, 255, 256, 257, 300}) {
    std::vector<float> values;
    for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.normal() + 10.0 * i));
    sets.emplace_back(std::to_string(count) + " values", std::move(values));
  }
  sets.emplace_back("any bits", std::vector<float>());
  return sets;
}

// The first and the last item occur, and all values if the ratings suffice.
inline Packable packable(std::int64_t n_items, const std::vector<float>& set, std::int64_t count,
                         Rng& rng) {
  Packable made;
  made.n_items = n_items;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t item = i == 0   ? static_cast<std::uint64_t>(n_items - 1)
                               : i == 1 ? 0
                                        : rng.below(static_cast<std::uint64_t>(n_items));
    made.items.push_back(static_cast<std::int32_t>(item));
    const auto size = static_cast<std::int64_t>(set.size());
    if (size == 0) {
      made.values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng())));
    } else {
      made.values.push_back(set[static_cast<std::size_t>(
          i < size ? i : static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(size))))]);
    }
  }
  return made;
}

inline std::vector<Packable> packables(std::uint64_t seed) {
  constexpr std::int64_t k16 = std::int64_t{1} << 16, k24 = std::int64_t{1} << 24;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  Rng rng(seed);
  std::vector<Packable> all;
  for (const auto& [name, set] : value_sets(rng)) {
    for (const std::int64_t items : {std::int64_t{1}, std::int64_t{2}, std::int64_t{17'770},
                                     k16 - 1, k16, k16 + 1, k24 - 1, k24, k24 + 1, kMost}) {
      for (const std::int64_t count : {0, 1, 63, 64, 65, 5000}) {
        all.push_back(packable(items, set, count, rng));
        all.back().name = name + ", " + std::to_string(items) + " items, " + std::to_string(count);
      }
    }
    all.push_back(packable(17'770, set, 200'003, rng));  // more than a thread takes at a time
    all.back().name = name + ", many";
  }
  return all;
}

}  // namespace mf::test
