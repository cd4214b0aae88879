// The observed pairs on the host.
#pragma once

#include "algorithms/bpr/draws.hpp"
#include "algorithms/core/implicit.hpp"
#include "algorithms/core/observed.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::bpr {

// Borrows the ratings, which must outlive it, or, if some have the value 0 (not observed), owns a
// copy without them.
class ObservedPairs {
 public:
  ObservedPairs() = default;
  // Throws Error(usage), naming the pair, if a value is not a valid confidence.
  ObservedPairs(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team);

  const Pairs& pairs() const { return pairs_; }
  std::int64_t rows() const { return rows_; }  // users and items that have a pair

 private:
  Pairs pairs_;
  std::int64_t rows_ = 0;
  ObservedRows own_;
};

}  // namespace mf::bpr
