// The contract of an algorithm that several ranks compute together: one whose parameters have
// ranks_param() or devices_param() (core/ranks/ranks.hpp).
#pragma once

#include "algorithms/core/algorithm.hpp"

namespace mf {

class Communicator;  // base/ranks/communicator.hpp
struct RatingSlice;  // datasets/ratings/rating_slice.hpp

struct RankInfo {
  // Every rank has all factors on the host after an epoch: each evaluates a part.
  bool factors_on_all = false;
};

// The harness lends this to each of several ranks. Each rank has its own algorithm, and takes its
// share of the training ratings in prepare: they may be gone after it. All make the same calls in
// the same order.
struct RankLoan {
  Communicator* group = nullptr;  // of which this is one
  // Set if each has only some rows of the training ratings: `train` of prepare() then has no
  // ratings in the other rows. Null: `train` is whole (core/rank_train.hpp).
  const RatingSlice* slice = nullptr;
};

// An algorithm that is one of several ranks is this, too.
class OnRanks {
 public:
  virtual ~OnRanks() = default;

  // Called by all ranks before factors() of rank 0, which then are whole: off the training clock.
  // Does nothing if an epoch ends with all factors on rank 0.
  virtual void gather_factors(Context&) {}

  // For ranks on devices: the traffic between them in its epochs, for the result's footer. Null:
  // unknown.
  virtual Json exchanged() const;
};

}  // namespace mf
