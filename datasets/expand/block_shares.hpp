// The reduced matrix of a Kronecker product: how much of a real set each of its blocks keeps.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/ratings/ratings.hpp"

namespace mf::expand {

// Users from the most to the least active are cut into as many groups as there are rows of blocks,
// items by popularity into as many as columns. A block keeps a share in proportion to the square
// root of the ratings of its pair of groups, at most all of them. In proportion to the ratings
// themselves, the core of heavy users and popular items would be dense enough to change which
// algorithm is best.
class BlockShares {
 public:
  // `mean`: of all blocks, above 0, at most 1. Blocks: at most the users and the items there are.
  BlockShares(const Ratings& ratings, std::int64_t user_blocks, std::int64_t item_blocks,
              double mean);

  std::int64_t user_blocks() const { return static_cast<std::int64_t>(sums_.size()); }
  std::int64_t item_blocks() const { return item_blocks_; }
  double at(std::int64_t a, std::int64_t b) const { return shares_[a * item_blocks_ + b]; }
  double row_sum(std::int64_t a) const { return sums_[a]; }

 private:
  std::int64_t item_blocks_;
  std::vector<double> shares_;
  std::vector<double> sums_;
};

}  // namespace mf::expand
