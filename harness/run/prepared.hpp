// The algorithm of a case, ready to run, with its loans: the runner and `mfbench plan` make and
// drive it in the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/ranks/ranked.hpp"
#include "datasets/ratings/rating_facts.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/run/training_clock.hpp"

namespace mf {

// Host threads of a case: its parameter `threads` (0: all of the machine); without one, all for an
// algorithm of the device, which prepares with them, and for one in closed form, whose evaluation
// they are for; 1 for the others. All of the machine are shared by the ranks of the case on the
// same CPUs.
int threads_of(const Case& item, int ranks_on_these_cpus = 1);

class PreparedCase {
 public:
  // Shared data that outlive it, or null.
  struct Lent {
    DeviceClock* device = nullptr;  // null for an algorithm of the CPU
    PhaseSink* phases = nullptr;
    std::function<bool()> stop_requested;
    // R on the device, for the threads of the case to upload; empty: the algorithm has its own.
    std::function<cuda::DeviceRatings*(ThreadTeam&)> ratings = {};
    RankLoan ranks = {};  // no ranks: one process
    int ranks_on_these_cpus = 1;
    ForeignLoan foreign = {};  // for foreign algorithms; the test part for those that take it
  };

  // From the threads and the initial factors to the end of prepare. `facts` are of `train`.
  PreparedCase(const Case& item, const Ratings& train, const RatingFacts& facts, Lent lent);

  // Returns the updates; on a device, they are queued.
  std::int64_t run_epochs(const EpochArgs& first, std::int64_t count) {
    return algorithm_->run_epochs(first, count, context_);
  }
  void synchronize() const;
  FactorView factors();  // waits for the device
  // For users on the host; `copy` then may hold the numbers.
  FactorView host_factors(Model& copy);

  const Algorithm& algorithm() const { return *algorithm_; }
  const Json& start() const { return start_; }   // the saved model that it started from, or null
  Foreign* foreign() const { return foreign_; }  // null: not a foreign one
  TrainingClock::OwnClock own_clock() const;     // of a foreign one; else empty
  void gather_factors();                         // of several ranks
  Json exchanged() const;                        // OnRanks::exchanged()
  ThreadTeam& team() { return team_; }

 private:
  DeviceClock* device_;
  ThreadTeam team_;
  RankLoan rank_loan_;
  ForeignLoan foreign_loan_;
  Context context_;
  std::unique_ptr<Algorithm> algorithm_;
  Json start_;
  OnRanks* on_ranks_ = nullptr;
  Foreign* foreign_ = nullptr;
};

}  // namespace mf
