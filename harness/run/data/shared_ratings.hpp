// The training ratings of a split on the device, for the cases that train on them one after
// another.
#pragma once

#include <memory>

#include "algorithms/core/algorithm.hpp"
#include "datasets/ratings/ratings.hpp"
#include "harness/run/data/shared_ledger.hpp"

namespace mf {

class SharedRatings {
 public:
  SharedRatings();
  ~SharedRatings();

  // The ratings of `train`, whose upload is the phase "transfer" of the first case. Until drop()
  // they are of one split. A build without CUDA has none, and gives null.
  cuda::DeviceRatings* lend(const Ratings& train, ThreadTeam& team, DeviceStream stream,
                            PhaseSink* phases, SharedLedger& ledger);

  // Enters the views that the case has asked for and made, once it is prepared.
  void note(SharedLedger& ledger) const;

  bool holds() const;
  // The device's work on them must have ended.
  void drop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mf
