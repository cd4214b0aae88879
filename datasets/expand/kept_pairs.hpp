// Which pairs of the product an expansion keeps: how many of each user's copies, and which must be.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "datasets/expand/block_shares.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::expand {

// A pair that is always kept, so that every copy of an item has a rating.
struct OwedPair {
  std::int64_t user_block;
  std::int64_t item_block;
  std::int64_t place;  // in the row of the user
};

class KeptPairs {
 public:
  // Keeps exactly `nnz` pairs: of each copy of a user one or more, and of each copy of an item.
  KeptPairs(const Ratings& base, const BlockShares& shares, std::int64_t nnz, std::uint64_t seed);

  // For copy a of the user u.
  std::int64_t count(std::int64_t u, std::int64_t a) const {
    return counts_[u * shares_.user_blocks() + a];
  }
  std::span<const OwedPair> owed(std::int64_t u) const {
    return {owed_.data() + owed_offsets_[u], owed_.data() + owed_offsets_[u + 1]};
  }
  // The same cut into blocks of items: at least the owed pairs of each, at most the user's ratings.
  std::vector<std::int64_t> count_by_block(std::int64_t u, std::int64_t a) const;

 private:
  void owe(std::uint64_t seed);
  void share_out(std::int64_t nnz);
  std::int64_t degree(std::int64_t u) const {
    return base_.user_offsets()[u + 1] - base_.user_offsets()[u];
  }

  const Ratings& base_;
  const BlockShares& shares_;
  std::vector<OwedPair> owed_;
  std::vector<std::int64_t> owed_offsets_;
  AlignedVector<std::int64_t> counts_;
};

}  // namespace mf::expand
