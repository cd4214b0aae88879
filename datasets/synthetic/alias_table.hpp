// Draws from a fixed distribution, random orders, and the ids of users and items that are made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/rng.hpp"

namespace mf::synthetic {

// Walker's alias method (Vose's construction): a draw costs one random number and one table entry.
class AliasTable {
 public:
  explicit AliasTable(std::span<const double> weights);
  std::int32_t draw(Rng& rng) const {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(rng()) * entries_.size();
    const auto slot = static_cast<std::int64_t>(product >> 64);
    const auto coin = static_cast<std::uint32_t>(static_cast<std::uint64_t>(product) >> 32);
    const Entry& entry = entries_[slot];
    return coin < entry.threshold ? static_cast<std::int32_t>(slot) : entry.alias;
  }

 private:
  struct Entry {
    std::uint32_t threshold;  // the slot keeps its own item with probability threshold / 2^32
    std::int32_t alias;
  };
  std::vector<Entry> entries_;
};

// 0 .. n - 1 in an order by chance.
std::vector<std::int32_t> shuffled(std::int64_t n, Rng rng);
void shuffle(std::span<std::int32_t> order, Rng& rng);

AlignedVector<std::int32_t> one_to(std::int64_t n);  // 1, 2, .. n

}  // namespace mf::synthetic
