#include "harness/run/case/case_report.hpp"

#include <fmt/core.h>

#include <cmath>
#include <exception>
#include <new>
#include <system_error>

#include "base/memory_advice.hpp"

namespace mf {
namespace {

// A shorter case is run again sooner than found again after the machine has failed; the disk has it
// within half a minute. To wait for the disk would take a tiny case longer than all else.
constexpr double kSyncedFrom_s = 1;

Status status_of(CaseOver::Why why) {
  switch (why) {
    case CaseOver::Why::timeout:
      return Status::timeout;
    case CaseOver::Why::diverged:
      return Status::diverged;
    case CaseOver::Why::skipped:
      break;
  }
  return Status::skipped;
}

}  // namespace

void end_by_exception(CaseResult& result) {
  result.status = Status::error;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    result.status = Status::oom;
    result.reason = fmt::format("the host's memory did not suffice; {}", kAskForLess);
  } catch (const CaseOver& over) {
    result.status = status_of(over.why());
    result.reason = over.what();
  } catch (const Error& error) {
    result.device_failed = error.kind() == ErrorKind::device;
    result.bad_data = error.kind() == ErrorKind::data;
    if (error.kind() == ErrorKind::memory) result.status = Status::oom;
    result.reason = error.what();
  } catch (const std::system_error& error) {
    // A thread that cannot start: the same message as a team's (base/threads.cpp).
    const bool thread = error.code() == std::errc::resource_unavailable_try_again;
    if (thread) result.status = Status::oom;
    result.reason = error.what();
  } catch (const std::exception& error) {
    result.reason = error.what();
  } catch (...) {
    result.reason = "an unknown exception was thrown";
  }
}

StopDecision stopped_after(std::int64_t epoch) {
  return {Status::interrupted, fmt::format("stopped by the user after epoch {}", epoch)};
}

StopDecision given_up_after(std::int64_t epoch) {
  return {Status::interrupted, epoch == 0 ? "given up before the first epoch"
                                          : fmt::format("given up after epoch {}", epoch)};
}

StopDecision given_up_in(std::int64_t first, std::int64_t count) {
  return {Status::interrupted,
          count == 1 ? fmt::format("given up in epoch {}", first)
                     : fmt::format("given up in epochs {} to {}", first, first + count - 1)};
}

CaseReport::CaseReport(const CaseTask& task, const Case& item, const RunOptions& options,
                       Ranges& ranges, Progress& progress)
    : task_(task),
      item_(item),
      options_(options),
      ranges_(ranges),
      progress_(progress),
      writer_(task.result_file) {
  facts_.profile = options.profile;
}

void CaseReport::begin_group(const EpochArgs& first) const {
  if (options_.profile && first.epoch == options_.profile->warmup + 1) ranges_.begin_profile();
}

void CaseReport::end_group(const EpochArgs& first, std::int64_t count) const {
  if (first.epoch + count > item_.stop.epochs) ranges_.end_profile();
}

void CaseReport::header(CaseSetup& setup) {
  const PhaseScope range(&ranges_, kSaveRange);
  const CaseEvaluation& evaluation = setup.evaluation();
  if (PreparedCase* const prepared = setup.prepared()) {
    facts_.work = prepared->algorithm().work_per_epoch();
    facts_.facts = prepared->algorithm().facts();
    if (!prepared->start().is_null()) facts_.facts["start"] = prepared->start();
    facts_.placement = placement_json();
    if (is_implicit(item_) && !is_by_history(item_)) facts_.loss = evaluation.loss().to_json();
  }
  facts_.ranking = evaluation.ranking_json();
  tell([&] { writer_.append(header_json(task_.spec, item_, setup.data(), facts_)); });
  has_header_ = true;
}

void CaseReport::trace(const TracePoint& point, CaseResult& result) {
  const PhaseScope range(&ranges_, kSaveRange);
  tell([&] { writer_.append(point.to_json()); });
  for (const auto& [metric, value] : point.metrics) note(metric, value, point.epoch, result);
  tell([&] { progress_.trace(point); });
}

void CaseReport::note(Metric metric, double value, std::int64_t epoch, CaseResult& result) const {
  MetricSummary& summary = result.metrics[metric];
  summary.final_value = value;
  // The initial model never counts as the best.
  if (epoch == 0 || (!std::isnan(summary.best) && !metric.is_better(value, summary.best))) return;
  summary.best = value;
  summary.best_epoch = epoch;
  if (metric == main_metric(item_)) result.best_epoch = epoch;
}

void CaseReport::warn(const std::string& text, CaseResult& result) {
  result.warnings.push_back(text);
  tell([&] { progress_.warning(text); });
}

void CaseReport::epochs_done(const TracePoint& point) {
  tell([&] { progress_.epochs_done(point); });
}

void CaseReport::footer(const CaseResult& result, const CaseMeasures& measures) {
  writer_.append(footer_json(result, measures, ranges_));
  writer_.end(result.wall_s >= kSyncedFrom_s);
}

void CaseReport::tell(const std::function<void()>& action) {
  telling_ = true;
  action();
  telling_ = false;
}

}  // namespace mf
