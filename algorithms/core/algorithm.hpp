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
#include "algorithms/core/model.hpp"
#include "algorithms/core/params.hpp"
#include "algorithms/core/phases.hpp"
#include "base/error.hpp"
#include "base/json/names.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::cuda {
class DeviceRatings;
}

namespace mf {

// For several ranks that compute together (core/ranks/ranked.hpp), and for training in another
// process (core/foreign.hpp): null for all others.
struct RankInfo;
struct RankLoan;
struct ForeignInfo;
struct ForeignLoan;

// The kind of an algorithm's updates. Updates of different methods cost different work, so their
// rates never stand on one axis.
enum class Method {
  sgd,         // a rating moves its row of P and its row of Q
  als,         // a rating enters the system of one row: each twice an epoch
  ccd,         // a rating enters the numbers of one row, all factors in turn: each twice an epoch
  pairwise,    // an observed pair and an item that was not: a row of P and two of Q
  closed_form  // a rating enters the one solution: an epoch is the whole, each rating once
};
inline constexpr Names kMethods{
    std::to_array<Named<Method>>({{"sgd", Method::sgd},
                                  {"als", Method::als},
                                  {"ccd", Method::ccd},
                                  {"pairwise", Method::pairwise},
                                  {"closed_form", Method::closed_form}})};

// How often an epoch has each rating, unless the algorithm says otherwise.
constexpr int visits_of_rating(Method method) {
  return method == Method::als || method == Method::ccd ? 2 : 1;
}

// The memory that an algorithm takes, in a few numbers (AlgorithmInfo::memory), which `mfbench
// plan` multiplies by the sizes of a case. tests/test_plan.py compares it with the peaks of
// results/reference. Bytes.
struct BytesOf {
  double preparing = 0;  // of a rating while the case is prepared
  double rating = 0;     // of a rating from then on
  double number = 0;     // of a number of P and Q
  double row = 0;        // of a user or item, beside its numbers
  double item_pair = 0;  // of a pair of items
  double batch_row = 0;  // of a row of the longer side, for as many rows as there is room for
  double fixed = 0;
};

struct MemoryUse {
  BytesOf host = {};  // beside the ratings, the initial factors included
  BytesOf device = {};
};

// Compulsory work of one epoch, as derived in the README of the algorithm's folder: the bytes and
// operations that any implementation of the same mathematics needs.
struct Work {
  double updates = 0;  // rating updates, as the method counts them
  double bytes = 0;
  double flops = 0;
};

struct ProblemShape {
  std::int64_t n_users = 0;
  std::int64_t n_items = 0;
  std::int64_t nnz = 0;  // of the training part

  double rows() const { return static_cast<double>(n_users) + static_cast<double>(n_items); }
};

// The harness lends this to an algorithm for one case.
struct Context {
  ThreadTeam* team = nullptr;  // as many threads as the parameter `threads` asked for
  std::uint64_t seed = 1;
  PhaseSink* phases = nullptr;  // may be null
  // On which the harness records its events; null in a build without CUDA. Device work of run_epoch
  // is queued there and need not have ended when run_epoch returns.
  DeviceStream stream = nullptr;
  // The training ratings on the device, for all cases that train on them; null if the algorithm is
  // to upload its own.
  cuda::DeviceRatings* ratings = nullptr;
  // Users and items together that have a training rating; empty if they are not counted
  // (core/sgd/sgd_params.hpp: rated_shape).
  std::optional<std::int64_t> rated_rows;
  double first_learning_rate = 0;  // which no later epoch exceeds; 0: not known
  RatingLevel level = 0;           // of the training ratings; all 0: not known
  // Polled between blocks of long epochs; true: return early (the epoch will not be recorded).
  std::function<bool()> stop_requested;
  const RankLoan* ranks = nullptr;
  const ForeignLoan* foreign = nullptr;
};

struct EpochArgs {
  std::int64_t epoch = 1;    // 1 for the first
  double learning_rate = 0;  // from the harness's schedule
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;

  // Partition, sort, upload: on the prepare clock (the phase "transfer" on the transfer clock).
  // `train` outlives the algorithm; `initial` does not. It has a rule (Model::rule) if
  // AlgorithmInfo::starts_by_rule, else P and Q.
  virtual void prepare(const Ratings& train, const Model& initial, Context& context) = 0;

  // The only call on the training clock. Returns the number of rating updates queued or done.
  virtual std::int64_t run_epoch(const EpochArgs& args, Context& context) = 0;

  // `count` epochs back to back at one learning rate, `first` being the first of them. Overridden
  // if an epoch is as short as its launch (a replayed CUDA graph).
  virtual std::int64_t run_epochs(const EpochArgs& first, std::int64_t count, Context& context);

  // Valid until the next call of run_epoch. For a device view the harness has synchronised before.
  virtual FactorView factors() = 0;

  virtual Work work_per_epoch() const = 0;

  // Facts about the prepared problem, for the result's header (blank blocks, idle lanes). Valid
  // after prepare.
  virtual Json facts() const;
};

enum class Hardware { cpu, cuda };

// Everything about an algorithm that needs no device: always compiled, even without the
// implementation.
struct AlgorithmInfo {
  std::string name;             // as typed in a spec
  std::string family;           // its folder
  std::string title = {};       // heading of the family in `mfbench list`; empty: its folder
  std::string summary;          // one line
  std::string paper;            // citation, or "mfbench" for our own
  std::string origin = {};      // of a plugin: its file and hash
  Method method = Method::sgd;  // the meaning of an update
  Hardware hardware = Hardware::cpu;
  int min_compute = 0;  // of a device: 80 for compute capability 8.0; 0: any that the build has
  bool deterministic = false;  // same result for the same seed and parameters
  bool uses_learning_rate = true;
  bool starts_by_rule = false;  // makes its first factors itself, in place
  std::vector<ParamSpec> params;
  // Its own phases (core/phases.hpp) in `prepare` and an epoch, in order; parameters decide which
  // of them a run has. Uploads to a device have phases that it need not name.
  std::vector<std::string> phases = {};
  // Why this combination cannot run, or nothing. May be empty.
  std::function<std::optional<std::string>(const Params&, const ProblemShape&)> supports;
  std::function<MemoryUse(const Params&)> memory;  // may be empty
  // The loss of an algorithm for implicit feedback: its values are confidences, not ratings. Empty:
  // explicit ratings, or by_history.
  std::function<ImplicitLoss(const Params&)> implicit;
  // For implicit feedback without P and Q, so without that loss, a parameter `factors` and a model
  // to save: factors() has FactorView::scores.
  bool by_history = false;
  // Each epoch draws a model from a posterior distribution (FactorView::draw). It is judged by the
  // running mean of the predictions of its draws: the harness asks for factors() after every epoch.
  // No ranking and no model to save: no P and Q give the mean of predictions.
  bool samples = false;
  // Rating updates of an epoch, for `mfbench plan`. Empty: the method's default.
  std::function<double(const ProblemShape&)> updates_per_epoch;
  std::shared_ptr<const RankInfo> ranks;
  std::shared_ptr<const ForeignInfo> foreign;
};

inline double updates_of_epoch(const AlgorithmInfo& info, const ProblemShape& shape) {
  if (info.updates_per_epoch) return info.updates_per_epoch(shape);
  return visits_of_rating(info.method) * static_cast<double>(shape.nnz);
}

// The squared loss of core/implicit.hpp. The pairwise ones only have rows folded in by it.
inline bool minimizes_objective(const AlgorithmInfo& info) {
  return info.implicit && info.method != Method::pairwise;
}

using AlgorithmFactory = std::function<std::unique_ptr<Algorithm>(const Params&)>;

}  // namespace mf
