// The contract of an algorithm. The harness owns the split, the initial factors, the learning-rate
// schedule, the evaluator, the clocks and the seeds; an algorithm never sees the test set.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/device_stream.hpp"
#include "algorithms/core/implicit.hpp"
#include "algorithms/core/method.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/core/params.hpp"
#include "base/error.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::cuda {
class DeviceRatings;
}
namespace mf::peer {
class TrainingFiles;
}

namespace mf {

class Communicator;  // base/communicator.hpp
struct RatingSlice;  // datasets/ratings/rating_slice.hpp

// Compulsory work of one epoch, as derived in the README of the algorithm's folder: what any
// implementation of the same mathematics must read, write and compute.
struct Work {
  double updates = 0;  // rating updates, as the method counts them (core/method.hpp)
  double bytes = 0;
  double flops = 0;
};

struct ProblemShape {
  std::int64_t n_users = 0;
  std::int64_t n_items = 0;
  std::int64_t nnz = 0;  // of the training part
};

// Bytes of device memory at the two times when it is most: they do not add up.
struct DeviceNeed {
  double prepare = 0;  // while it is prepared
  double trained = 0;  // from then on, beside what the evaluator has
};

// The same where R stays on the device for the cases that follow (Context::ratings).
struct BesideRatings {
  DeviceNeed need;       // without R by rows and by columns
  bool columns = false;  // it asks for R by columns
};

// Of a process that an algorithm starts beside this one.
struct ProcessNeed {
  // Its memory at most up to the first evaluated point, with what it maps of the files that it is
  // given; nothing: nobody knows.
  std::optional<double> bytes;
  std::string unknown;     // what is not in them, or why there are none
  double limit_bytes = 0;  // that the case allows it; 0: what there is
  // What a library that starts anew for each evaluated point keeps of each before.
  double of_further_point = 0;
  std::optional<double> bytes_of(std::int64_t points) const {
    if (!bytes) return std::nullopt;
    return *bytes + of_further_point * static_cast<double>(points > 1 ? points - 1 : 0);
  }
};

struct MemoryNeed {
  double host_bytes = 0;  // beyond the ratings and the initial factors
  DeviceNeed device;      // all of it; where it takes as much as there is, the least it works with
  std::optional<BesideRatings> beside_ratings = std::nullopt;  // nothing: as `device`, beside R
  // That libraries take for themselves on the device: must be free, is in no peak.
  double library_bytes = 0;
  // `device.trained` on a device of which so many bytes are free beforehand, where it takes the
  // more the more there is. Empty: it does not.
  std::function<double(double free_bytes)> trained_in = nullptr;
  std::optional<ProcessNeed> process = std::nullopt;  // AlgorithmInfo::own_process
};

// Receives named intervals of an algorithm (prepare: "transfer"; epoch: "hermitian", "solve", ...).
// The harness times them, puts them into the result and draws them as NVTX ranges.
class PhaseSink {
 public:
  virtual ~PhaseSink() = default;
  virtual void begin(const char* phase) = 0;
  virtual void end() = 0;
};

class PhaseScope {
 public:
  PhaseScope(PhaseSink* sink, const char* phase) : sink_(sink) {
    if (sink_ != nullptr) sink_->begin(phase);
  }
  ~PhaseScope() {
    if (sink_ != nullptr) sink_->end();
  }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  PhaseSink* sink_;
};

// What the harness lends an algorithm for one case.
struct Context {
  ThreadTeam* team = nullptr;  // as many threads as the parameter `threads` asked for
  std::uint64_t seed = 1;
  PhaseSink* phases = nullptr;  // may be null
  // On which the harness records its events; null in a build without CUDA. Device work of run_epoch
  // is queued there and need not have ended when run_epoch returns.
  DeviceStream stream = nullptr;
  // The training ratings on the device, for all cases that train on them; null where the algorithm
  // is to upload its own.
  cuda::DeviceRatings* ratings = nullptr;
  // Users and items together that have a training rating; nothing where nobody has counted them
  // (core/sgd_params.hpp: rated_shape).
  std::optional<std::int64_t> rated_rows;
  // The processes that compute the case together, of which this is one; null: it is alone. Each has
  // an algorithm of its own, and takes its share of the training ratings in prepare: they may be
  // gone after it. All make the same calls in the same order.
  Communicator* ranks = nullptr;
  // Of several ranks, where each has some rows of the training ratings alone: `train` of prepare()
  // then has no ratings in the other rows. Null: `train` is whole (core/rank_train.hpp).
  const RatingSlice* slice = nullptr;
  // Polled between blocks of long epochs; true: return early (the epoch will not be recorded).
  std::function<bool()> stop_requested;
  // Where a process that the algorithm starts is to print; empty: nowhere.
  std::string log_file;
  // The part that the case is judged by, where AlgorithmInfo::takes_test; else null. Outlives the
  // algorithm.
  const Ratings* test = nullptr;
  // The training part as files, for all cases whose processes train on it; empty: an algorithm that
  // needs them writes its own.
  std::function<std::shared_ptr<const peer::TrainingFiles>()> training_files;
  // Takes what finish() would have said, where prepare() fails. May be empty.
  std::function<void(const Json&)> account;
};

// Thrown where a case is over and is neither an error nor out of memory.
class CaseOver : public Error {
 public:
  enum class Why {
    timeout,   // somebody did not answer in time
    diverged,  // the model is not finite
    skipped,   // prepare() found out that this machine cannot run it
  };
  CaseOver(Why why, const std::string& message)
      : Error(ErrorKind::unsupported, message), why_(why) {}
  Why why() const { return why_; }

 private:
  Why why_;
};

struct EpochArgs {
  std::int64_t epoch = 1;    // 1 for the first
  double learning_rate = 0;  // from the harness's schedule
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;

  // Partition, sort, upload: on the prepare clock (the phase "transfer" on the transfer clock).
  // `train` outlives the algorithm; `initial` does not. It has a rule (Model::rule) where
  // AlgorithmInfo::starts_by_rule, else P and Q.
  virtual void prepare(const Ratings& train, const Model& initial, Context& context) = 0;

  // The only call on the training clock. Returns the number of rating updates queued or done.
  virtual std::int64_t run_epoch(const EpochArgs& args, Context& context) = 0;

  // `count` epochs back to back at one learning rate, `first` being the first of them. Overridden
  // where an epoch is so short that its launch would cost as much (a replayed CUDA graph).
  virtual std::int64_t run_epochs(const EpochArgs& first, std::int64_t count, Context& context) {
    std::int64_t updates = 0;
    EpochArgs args = first;
    for (; args.epoch < first.epoch + count; ++args.epoch) updates += run_epoch(args, context);
    return updates;
  }

  // Of several ranks, called by all of them before factors() of rank 0, which then are whole: off
  // the training clock. Nothing, where an epoch ends with all factors on rank 0
  // (AlgorithmInfo::whole_on_ranks: on every rank).
  virtual void gather_factors(Context&) {}

  // Valid until the next call of run_epoch. For a device view the harness has synchronised before.
  virtual FactorView factors() = 0;

  virtual Work work_per_epoch() const = 0;

  // Facts about the prepared problem, for the result's header (blank blocks, idle lanes). Valid
  // after prepare.
  virtual Json facts() const;

  // Of a case of several ranks on devices: what went between them in its epochs, for the result's
  // footer. Null: nothing is known of it.
  virtual Json exchanged() const;

  // ---- for algorithms that train in another process (algorithms/peer) ----

  // Seconds of all training so far by that process's own clock: what its messages and files take is
  // on no training clock. Nothing: the harness's clock around run_epochs counts.
  virtual std::optional<double> own_train_s() const { return std::nullopt; }
  // CPU seconds that other processes have worked for it: none of a stranger's.
  virtual double other_cpu_s() const { return 0; }
  // Of a program that leaves no model (AlgorithmInfo::takes_test): its own RMSE of Context::test
  // after the last epoch, perhaps not finite. It is then evaluated by nobody else.
  virtual std::optional<double> reported_rmse() const { return std::nullopt; }
  // Ends them. What is known only then, for the result's footer; null: nothing.
  virtual Json finish();
};

enum class Hardware { cpu, cuda };

// Everything about an algorithm that needs no device: always compiled, also where the
// implementation is not.
struct AlgorithmInfo {
  std::string name;             // as typed in a spec
  std::string family;           // its folder
  std::string summary;          // one line
  std::string paper;            // citation, or "mfbench" for our own
  Method method = Method::sgd;  // what an update is
  Hardware hardware = Hardware::cpu;
  int min_compute = 0;  // of a device: 80 for compute capability 8.0; 0: whatever the build has
  bool deterministic = false;  // same result for the same seed and parameters
  bool uses_learning_rate = true;
  bool starts_by_rule = false;  // makes its first factors itself, where it needs them
  // An epoch costs as much as all before it: run_epochs() is called once for each evaluation.
  bool repeats_epochs = false;
  // Of several ranks every one has all factors on the host after an epoch: each evaluates a part.
  bool whole_on_ranks = false;
  // A program that evaluates itself, and leaves no model: it alone is given the test part.
  bool takes_test = false;
  bool own_process = false;  // trains in a process that it starts
  std::vector<ParamSpec> params;
  // Why this combination cannot run, or nothing. May be empty.
  std::function<std::optional<std::string>(const Params&, const ProblemShape&)> supports;
  std::function<MemoryNeed(const Params&, const ProblemShape&)> memory;
  // The loss of an algorithm for implicit feedback: its values are confidences, not ratings. Empty:
  // explicit ratings.
  std::function<ImplicitLoss(const Params&)> implicit;
  // Rating updates of an epoch, for `mfbench plan`. Empty: each rating once.
  std::function<double(const ProblemShape&)> updates_per_epoch;
};

using AlgorithmFactory = std::function<std::unique_ptr<Algorithm>(const Params&)>;

}  // namespace mf
