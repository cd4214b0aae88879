// The observed pairs on the host.
#pragma once

#include "algorithms/bpr/draws.hpp"
#include "algorithms/core/implicit.hpp"
#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::bpr {

// Borrows the ratings, which must outlive it, or, where some have the value 0 (not observed), owns
// a copy without them.
class ObservedPairs {
 public:
  ObservedPairs() = default;
  // Throws Error(usage), naming the pair, where a value is no confidence.
  ObservedPairs(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team);

  const Pairs& pairs() const { return pairs_; }
  std::int64_t rows() const { return rows_; }  // users and items that have a pair

 private:
  void copy_observed(const Ratings& train);

  Pairs pairs_;
  std::int64_t rows_ = 0;
  AlignedVector<std::int64_t> offsets_;
  AlignedVector<std::int32_t> users_, items_;
  AlignedVector<float> values_;
};

}  // namespace mf::bpr
