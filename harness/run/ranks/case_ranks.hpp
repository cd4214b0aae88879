// The work that rank 0 gives the other ranks of a case beside its own. For a case of one rank it
// does nothing.
#pragma once

#include <functional>

#include "algorithms/core/algorithm.hpp"
#include "base/json/json.hpp"
#include "harness/device/host_load.hpp"
#include "harness/results/files/case_result.hpp"
#include "harness/run/case/case_device.hpp"
#include "harness/run/ranks/rank_world.hpp"

namespace mf {

class CaseRanks {
 public:
  // `world` may be null: one rank.
  CaseRanks(RankWorld* world, const Case& item);

  int count() const { return count_; }
  // For RankLoan::group; null for one rank.
  Communicator* group() { return count_ > 1 ? &group_ : nullptr; }
  // Ranks that share the CPUs of this one.
  int on_these_cpus() const;

  // A case on several devices: starts to connect them, while all load. Throws as load() does.
  void connect();
  // After load(): each opens its device and looks whether it has room. Throws as load() does.
  void open(const std::function<void()>& action);
  // For a case on several devices: all are connected, and each makes the calls of a case once.
  void warm_up(PhaseSink& phases, const std::function<void()>& action);

  // Calls the action of this rank, and has the others do theirs beside it; load() after it, unless
  // the data `is_cached`: so they find its cache file. load() passes on an error of any of them,
  // and they stay fit for the next case; after errors of the other calls they are not
  // (CaseResult::ranks_failed).
  void load(const std::function<void()>& action, bool is_cached);
  // Each loads its share of the ratings, all together; throws as load() does.
  void load_slices(const std::function<void(Communicator&)>& action);
  void prepare(const std::function<void()>& action);
  void epochs(const EpochArgs& first, std::int64_t count, const std::function<void()>& action);

  // Before the factors are read: all bring theirs to rank 0. Once after the last epochs, and before
  // end().
  void gather(const std::function<void()>& action);

  // Each evaluates its blocks, all together.
  void evaluate(std::int64_t epoch, const std::function<void()>& action);

  // The energy of all devices in epochs so far, on the clock of the watch; empty if one of them
  // does not say.
  std::optional<double> joules(const CaseDevice& own, PhaseSink& phases);

  // The others tell what they did, and wait for the next case. Once; does nothing if they failed.
  // Returns why the reports are missing, or empty.
  std::optional<std::string> end();

  // CPU time that other processes took on this machine, so far as they have told: in prepare, and,
  // after end(), in epochs.
  OwnUse prepare_use() const { return prepare_use_; }
  OwnUse train_use() const { return train_use_; }

  // After end(): the reports of each other rank ("rank", "machine", "threads", "facts", "phases",
  // "clocks", "peak_host_bytes", "cpu_s"), and the energy of all.
  void report(const CaseDevice& own, CaseResult& result, CaseMeasures& measures) const;

 private:
  void order(const Order& order);
  // Orders it of this case, and calls the action, which fails on all ranks alike: they stay fit.
  void order_agreed(Order::What what, const std::function<void()>& action, bool slices = false);
  void together(const std::function<void()>& action);
  void end_case();
  void add_use(OwnUse& sum, int other, const Json& use) const;
  // A rank has failed within a common operation: the run ends.
  bool failed() const { return count_ > 1 && world_->broken(); }

  RankWorld* world_;
  Communicator group_;
  int count_ = 1;
  bool on_devices_ = false;
  std::string hash_;    // of the case
  bool begun_ = false;  // the others are within this case
  bool whole_ = false;  // rank 0 has all trained factors
  OwnUse prepare_use_, train_use_;
  Json reports_;
};

// The energy of a case of several devices, by rank; empty: its driver does not say.
using RankJoules = std::vector<std::optional<double>>;

// For every rank, on all. All ranks together.
RankJoules joules_of_ranks(std::optional<double> own, Communicator& ranks);
// Empty if one of them does not say: a part is not the energy of the case.
std::optional<double> total_joules(const RankJoules& of_ranks);

// The CPU time of a rank.
Json to_json(const OwnUse& use);
OwnUse own_use_from(const Json& json);

}  // namespace mf
