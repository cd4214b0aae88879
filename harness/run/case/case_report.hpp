// Reports of a running case: the lines of its result file, and the user's display.
#pragma once

#include <functional>

#include "harness/device/environment.hpp"
#include "harness/results/files/case_json.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/run/case/case_setup.hpp"
#include "harness/run/runner.hpp"
#include "harness/run/show/progress.hpp"

namespace mf {

// The end of a case by an exception, any of which belongs to the case. Called while it is being
// handled.
void end_by_exception(CaseResult& result);

// By the user.
StopDecision stopped_after(std::int64_t epoch);
StopDecision given_up_after(std::int64_t epoch);  // 0: before the first
StopDecision given_up_in(std::int64_t first, std::int64_t count);

class CaseReport {
 public:
  // `item` is the case as it runs.
  CaseReport(const CaseTask& task, const Case& item, const RunOptions& options, Ranges& ranges,
             Progress& progress);

  // A profiler records some groups of epochs only.
  void begin_group(const EpochArgs& first) const;
  void end_group(const EpochArgs& first, std::int64_t count) const;

  void describe_machine() { facts_.environment = environment_json(options_.command_line); }
  // With the algorithm's own account of its work, for which it may count rows. Once.
  void header(CaseSetup& setup);
  bool has_header() const { return has_header_; }
  // Before it trains.
  void warn(const std::string& text, CaseResult& result);
  // Notes the best and the last values in `result`.
  void trace(const TracePoint& point, CaseResult& result);
  void epochs_done(const TracePoint& point);
  void footer(const CaseResult& result, const CaseMeasures& measures);

  // The exception is the run's, not the case's: results can no longer be reported.
  bool failed() const { return telling_; }

 private:
  void tell(const std::function<void()>& action);
  void note(Metric metric, double value, std::int64_t epoch, CaseResult& result) const;

  const CaseTask& task_;
  const Case& item_;
  const RunOptions& options_;
  Ranges& ranges_;
  Progress& progress_;
  ResultWriter writer_;
  HeaderFacts facts_;
  bool has_header_ = false;
  bool telling_ = false;
};

}  // namespace mf
