// All of a case before its first epoch: its data, its device and its algorithm, and whether it can
// be run at all.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "harness/run/case/case_device.hpp"
#include "harness/run/case/case_evaluation.hpp"
#include "harness/run/case/host_watch.hpp"
#include "harness/run/data/data_store.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/run/prepared.hpp"
#include "harness/run/ranks/case_ranks.hpp"
#include "harness/run/runner.hpp"

namespace mf {

class CaseSetup {
 public:
  // `item` is the case as it runs.
  CaseSetup(const CaseTask& task, const Case& item, const RunOptions& options, DataStore& store,
            CaseRanks& ranks, Ranges& ranges)
      : task_(task),
        item_(item),
        store_(store),
        ranks_(ranks),
        ranges_(ranges),
        device_(ranges, options),
        evaluation_(item) {}

  // Throws errors of the case.
  void load();
  // Why it cannot be run here, or nothing.
  std::optional<Refusal> open_or_refuse(CaseMeasures& measures);
  // From the initial factors to the evaluator. `stop_requested` outlives the algorithm.
  void prepare(const std::function<bool()>& stop_requested, HostWatch& watch,
               CaseMeasures& measures);

  CaseDevice& device() { return device_; }
  const CaseData& data() const { return data_; }
  const ProblemShape& shape() const { return shape_; }
  CaseEvaluation& evaluation() { return evaluation_; }
  PreparedCase* prepared() { return prepared_.get(); }  // null before prepare()

  // Why its numbers will say less than they seem to: known before it trains.
  std::vector<std::string> warnings() const;

  // CPU seconds that processes which the algorithm has started have worked.
  double foreign_cpu_s() const;
  // At the end of the case; ends these processes.
  void report(CaseMeasures& measures);

 private:
  std::optional<Refusal> open(CaseMeasures& measures);
  CaseSizes case_sizes() const;
  double make_room(const CaseSizes& sizes, CaseMeasures& measures);
  void pack();  // for a device, if the case uploads ratings
  ForeignLoan foreign_loan(CaseMeasures& measures);

  const CaseTask& task_;
  const Case& item_;
  DataStore& store_;
  CaseRanks& ranks_;
  Ranges& ranges_;
  CaseDevice device_;  // outlives all that works on its stream
  CaseData data_;
  ProblemShape shape_;
  CaseEvaluation evaluation_;
  std::unique_ptr<PreparedCase> prepared_;
  bool shares_ratings_ = false;
};

}  // namespace mf
