// The triples of an epoch, drawn without a state: triple t of epoch e from Rng(seed, number), so
// they are the same on host and device and for any number of threads.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/json/names.hpp"
#include "base/rng.hpp"

namespace mf::bpr {

enum class Negatives { uniform, popular };
inline constexpr Names kNegatives{std::to_array<Named<Negatives>>(
    {{"uniform", Negatives::uniform}, {"popular", Negatives::popular}})};

// The observed pairs, by user and item. Plain pointers: of the host, or of the device.
struct Pairs {
  const std::int64_t* offsets = nullptr;  // users + 1
  const std::int32_t* users = nullptr;    // of each pair
  const std::int32_t* items = nullptr;
  const float* values = nullptr;  // null if the loss does not read them
  std::int64_t count = 0;
  std::int32_t n_items = 0;
};

// The items that a user was observed with, ascending.
struct Row {
  const std::int32_t* items;
  std::int32_t count;
};

struct Triple {
  std::int32_t user = 0;
  std::int32_t item = 0;
  std::int32_t other = 0;  // kNone: the user has all items, so there is nothing to learn
  float value = 0;         // of the pair, if Pairs::values is set
};
inline constexpr std::int32_t kNone = -1;

// Popular items refused one after another before the draw is made uniformly: for a user with nearly
// all popular items.
inline constexpr int kMostRefused = 64;

// [0, count), 53 bits.
template <class Random>
MF_HD std::int64_t below(Random& rng, std::int64_t count) {
  return static_cast<std::int64_t>(rng.uniform() * static_cast<double>(count));
}

MF_HD Row row_of(const Pairs& pairs, std::int32_t user) {
  const std::int64_t begin = pairs.offsets[user];
  return {pairs.items + begin, static_cast<std::int32_t>(pairs.offsets[user + 1] - begin)};
}

// How many of [0, count) hold; these come first. Branches would be mispredicted.
template <class Holds>
MF_HD std::int32_t leading(std::int32_t count, Holds&& holds) {
  std::int32_t known = 0;
  while (count > 1) {
    const std::int32_t half = count / 2;
    known += holds(known + half - 1) ? half : 0;
    count -= half;
  }
  return known + (count == 1 && holds(known) ? 1 : 0);
}

MF_HD bool has_item(const Row& row, std::int32_t item) {
  const std::int32_t at = leading(row.count, [&](std::int32_t k) { return row.items[k] < item; });
  return at < row.count && row.items[at] == item;
}

// Item k, from 0, of those missing from the row, by one search: an exact draw refuses nothing.
MF_HD std::int32_t absent_item(const Row& row, std::int32_t k) {
  return k + leading(row.count, [&](std::int32_t at) { return row.items[at] - at <= k; });
}

// j: uniform over the items missing from the user's row, or in proportion to popularity.
template <class Random>
MF_HD std::int32_t draw_other(const Pairs& pairs, const Row& row, Negatives negatives,
                              Random& rng) {
  const std::int32_t absent = pairs.n_items - row.count;
  if (absent == 0) return kNone;
  if (negatives == Negatives::popular) {
    for (int k = 0; k < kMostRefused; ++k) {
      const std::int32_t item = pairs.items[below(rng, pairs.count)];
      if (!has_item(row, item)) return item;
    }
  }
  return absent_item(row, static_cast<std::int32_t>(below(rng, absent)));
}

// The generator of triple t, from 0, of an epoch of `count`; epochs count from 1. WARP draws more
// than one j for it: further ones from separate streams, `tries` after 0.
MF_HD Rng rng_of(std::uint64_t seed, std::int64_t count, std::int64_t epoch, std::int64_t t,
                 std::int64_t tries = 0) {
  constexpr std::uint64_t kSalt = 0x747269706c6573ULL;  // first factors draw from the plain seed
  return Rng((seed ^ kSalt) + static_cast<std::uint64_t>(tries) * 0x9e3779b97f4a7c15ULL,
             static_cast<std::uint64_t>(epoch * count + t));
}

// SplitMix64, for the hundreds of further negatives of a triple. Negative k, from 1, has a
// generator of its own, with one word of state instead of an Rng's four.
class Further {
 public:
  MF_HD Further(std::uint64_t seed, std::int64_t count, std::int64_t epoch, std::int64_t t,
                std::int64_t k)
      : state_(mix64(mix64(seed ^ 0x6e65676174697665ULL) +
                     static_cast<std::uint64_t>(epoch * count + t)) +
               static_cast<std::uint64_t>(k) * 0xd1342543de82ef95ULL) {}
  MF_HD double uniform() {
    return static_cast<double>(mix64(state_ += 0x9e3779b97f4a7c15ULL) >> 11) * 0x1.0p-53;
  }

 private:
  std::uint64_t state_;
};

}  // namespace mf::bpr
