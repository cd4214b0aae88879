// The algorithm of a case, ready to run, with what it is lent: the runner and `mfbench plan` make
// and drive it in the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "algorithms/core/algorithm.hpp"
#include "datasets/ratings/rating_facts.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/spec/spec.hpp"

namespace mf {

// Host threads of a case: its parameter `threads` (0: all of the machine); without one, all for an
// algorithm of the device, which prepares with them, and 1 for the others. All of the machine are
// shared by the ranks of the case on the same CPUs.
int threads_of(const Case& item, int ranks_on_these_cpus = 1);

// Bytes of the host model that a case starts from: `factors` per row and a bias, or the bias alone
// where the algorithm makes the rows by their rule.
double model_bytes(const Case& item, const ProblemShape& shape);

class PreparedCase {
 public:
  // What outlives it, or null.
  struct Lent {
    DeviceClock* device = nullptr;  // null for an algorithm of the CPU
    PhaseSink* phases = nullptr;
    std::function<bool()> stop_requested;
    // R on the device, for the threads of the case to upload; empty: the algorithm has its own.
    std::function<cuda::DeviceRatings*(ThreadTeam&)> ratings = {};
    std::string log_file = {};           // Context::log_file
    Communicator* ranks = nullptr;       // of a case of several
    const RatingSlice* slice = nullptr;  // Context::slice
    int ranks_on_these_cpus = 1;
    const Ratings* test = nullptr;  // Context::test, for those that take it
    std::function<std::shared_ptr<const peer::TrainingFiles>()> training_files = {};
    std::function<void(const Json&)> account = {};  // Context::account
  };

  // From the threads and the initial factors to the end of prepare. `facts` are those of `train`.
  PreparedCase(const Case& item, const Ratings& train, const RatingFacts& facts, Lent lent);

  // Returns the updates; on a device, they are queued.
  std::int64_t run_epochs(const EpochArgs& first, std::int64_t count) {
    return algorithm_->run_epochs(first, count, context_);
  }
  void synchronize() const;
  void gather_factors() { algorithm_->gather_factors(context_); }  // of several ranks
  FactorView factors();                                            // waits for the device

  Json finish() { return algorithm_->finish(); }

  const Algorithm& algorithm() const { return *algorithm_; }
  ThreadTeam& team() { return team_; }

 private:
  DeviceClock* device_;
  ThreadTeam team_;
  Context context_;
  std::unique_ptr<Algorithm> algorithm_;
};

}  // namespace mf
