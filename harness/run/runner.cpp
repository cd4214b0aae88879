#include "harness/run/runner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <new>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/host/pages.hpp"
#include "base/host/process_id.hpp"
#include "base/wait.hpp"
#include "datasets/load.hpp"
#include "harness/run/case/case_report.hpp"
#include "harness/run/case/case_setup.hpp"
#include "harness/run/case/host_watch.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/epoch_groups.hpp"
#include "harness/run/training_clock.hpp"

namespace mf {
namespace {

std::string rate_and_ranks(const Case& item, double rate) {
  if (!find_algorithm(item.algorithm).uses_learning_rate) return "";
  const int ranks = ranks_of(item);
  return fmt::format("; the learning rate was {:g}{}", rate,
                     ranks > 1 ? fmt::format(", on {} devices", ranks) : "");
}

class CaseRun {
 public:
  CaseRun(const CaseTask& task, const RunOptions& options, DataStore& store, Progress& progress)
      : task_(task),
        item_(options.profile ? profiled(task.item, *options.profile) : task.item),
        options_(options),
        store_(store),
        ranks_(options.ranks, task.item),
        report_(task, item_, options, ranges_, progress) {
    if (options_.on_range) ranges_.set_observer(options_.on_range);
  }

  CaseResult run() {
    const PhaseScope range(&ranges_, "case");
    const WaitScope waits(
        [this](const std::string& what, double waited_s) { check_wait(what, waited_s); });
    try {
      run_or_refuse();
    } catch (...) {
      setup_.device().await();
      if (report_.failed()) throw;
      end_by_exception(result_);
      if (result_.bad_data) result_.files_mark = mark_of_files(item_.data);
      // An exception of an algorithm that is told to stop while it prepares is not an error.
      if (interrupt_level() >= 2) end(given_up_after(result_.epochs));
      if (wait_over_) end(*wait_over_);
    }
    end_training();
    ranges_.end_profile();
    write_footer();
    if (!task_.keep_training_files) store_.drop_training_files();
    return result_;
  }

 private:
  void run_or_refuse() {
    store_.ledger().begin_case();
    start();
    if (const int signal = options_.ended_by; signal != 0)
      return end({signal == SIGALRM ? Status::timeout : Status::error, how_ended(signal)});
    if (item_.unresolved) return end({item_.unresolved->status, item_.unresolved->reason});
    load();
    if (const auto refusal = setup_.open_or_refuse(measures_)) {
      report_.header(setup_);
      return end({refusal->status, refusal->reason});
    }
    clock_ = TrainingClock(ranges_, setup_.device().get());
    setup_.prepare([this] { return stop_requested(); }, host_watch_, measures_);
    report_.header(setup_);
    for (const auto& warning : setup_.warnings()) report_.warn(warning, result_);
    train();
    if (result_.status != Status::interrupted) bring_factors();
    end_training();
    if (result_.status != Status::interrupted) evaluate_groups();
    if (result_.status == Status::completed && task_.model_folder) save();
  }

  // Fewer factors would not help here.
  void load() {
    try {
      setup_.load();
    } catch (const std::bad_alloc&) {
      fail(ErrorKind::memory,
           "the host's memory did not suffice for the ratings; use a smaller data set or raise "
           "the limit");
    }
  }

  // For data that another process is making, or for another rank. A signal that ends a run after
  // its epoch ends a wait; the limit, which holds after an epoch, one that is longer than an epoch.
  void check_wait(const std::string& what, double waited_s) {
    if (!times_out(what, waited_s) && interrupt_level() > 0) {
      wait_over_ = given_up_after(result_.epochs);
      wait_over_->reason += ", interrupted while waiting for " + what;
    }
    if (wait_over_) fail(ErrorKind::io, "{}", wait_over_->reason);
  }

  // If so, wait_over_ says why.
  bool times_out(const std::string& what, double waited_s) {
    const double spent = seconds_since(start_);
    const auto limit = item_.stop.wall_seconds;
    if (!limit || spent < *limit || waited_s < clock_.last_group().seconds) return false;
    wait_over_ = {Status::timeout,
                  fmt::format("wall_seconds: {:.1f} s were spent, the last {:.1f} of them waiting "
                              "for {}",
                              spent, waited_s, what)};
    return true;
  }

  // Facts of the program and the machine: asking for the device makes its context, which is on no
  // clock of an algorithm without one. A process starts its device while it loads its first
  // ratings.
  void start() {
    const auto describe = [this] { report_.describe_machine(); };
    if (!needs_device(item_)) describe();
    described_s_ = seconds_since(start_);
    const PhaseScope range(&ranges_, kStartRange);
    give_back_freed();  // memory left by the case before must not count beside this one's
    reset_peak_memory();
    if (starts_beside()) return setup_.device().open_beside(item_, describe);
    describe();
    ranks_.connect();
  }

  // Later cases find a device that has started. One of several ranks opens it together with theirs.
  bool starts_beside() const {
    return !item_.unresolved && needs_device(item_) && is_built(item_.algorithm) &&
           ranks_.count() == 1 && store_.ledger().is_first_case();
  }

  void train() {
    const TracePoint start = evaluate(0);
    stopping_.start(setup_.evaluation().reference(start));
    report_.trace(start, result_);
    const bool evaluated = start.metrics.begin() != start.metrics.end();  // a trial may not be
    auto decision = stopping_.check(stop_input(start, evaluated));
    if (!decision) host_watch_.begin_training();
    while (!decision) {
      const std::int64_t first = result_.epochs + 1;
      const std::int64_t count =
          group_size(item_, schedule_, clock_.last_group(), first, options_.profile);
      const double rate = schedule_.rate(first);
      run_group({first, rate}, count);
      if (interrupt_level() >= 2) return end(given_up_in(first, count));
      if (wait_over_) return end(*wait_over_);
      result_.epochs += count;
      decision = after_group(rate);
    }
    end(*decision);
  }

  void run_group(const EpochArgs& first, std::int64_t count) {
    PreparedCase& algorithm = *setup_.prepared();
    report_.begin_group(first);
    asked_ = Clock::now();
    const auto epochs = [&] { updates_ += algorithm.run_epochs(first, count); };
    const auto timed = [&] { clock_.time_group(count, epochs, algorithm.own_clock()); };
    const auto on_all_ranks = [&] { ranks_.epochs(first, count, timed); };
    setup_.device().watch_group(clock_, [&] { host_watch_.watch_group(on_all_ranks); });
    report_.end_group(first, count);
  }

  // Evaluates if due; returns the end of the case, or empty.
  std::optional<StopDecision> after_group(double rate) {
    TracePoint point;
    point.epoch = result_.epochs;
    auto decision = stopping_.check(stop_input(point, false));
    if (decision || point.epoch % item_.evaluate.every == 0 || interrupt_level() > 0) {
      setup_.device().read();
      setup_.device().pause();
      point = evaluate(result_.epochs);
      point.learning_rate = rate;
      point.epoch_s = repeats_ ? clock_.seconds() / static_cast<double>(point.epoch)
                               : clock_.last_group().epoch_s();
      report_.trace(point, result_);
      if (item_.schedule.monitor) {
        schedule_.observe(point.metrics.to_minimize(*item_.schedule.monitor));
      }
      if (auto by_quality = stopping_.check(stop_input(point, true))) decision = by_quality;
    } else {
      take_draw();
      stamp(point);
      report_.epochs_done(point);
    }
    if (decision && decision->status == Status::diverged)
      decision->reason += rate_and_ranks(item_, rate);
    if (decision && options_.profile && decision->status == Status::completed)
      decision->reason = options_.profile->done();
    if (!decision && interrupt_level() > 0) decision = stopped_after(point.epoch);
    return decision;
  }

  // For a sampler, between evaluations: those after burn-in are averaged.
  void take_draw() {
    if (!is_sampler(item_) || setup_.prepared()->factors().draw == 0) return;
    setup_.device().read();
    setup_.device().pause();
    TracePoint unused;
    unused.epoch = result_.epochs;
    set_metrics(unused);
  }

  // The result of the last epoch is worth some seconds.
  void set_metrics(TracePoint& point) {
    constexpr double kWorthSeconds = 5;
    const PhaseScope range(&ranges_, kEvaluateRange);
    asked_ = Clock::now();
    const WaitScope waits([this](const std::string& what, double waited_s) {
      if (waited_s >= kWorthSeconds || interrupt_level() >= 2) check_wait(what, waited_s);
    });
    setup_.evaluation().evaluate(*setup_.prepared(), ranks_, point);
  }

  TracePoint evaluate(std::int64_t epoch) {
    TracePoint point;
    point.epoch = epoch;
    set_metrics(point);
    point.train_energy_j = ranks_.joules(setup_.device(), ranges_);
    stamp(point);
    return point;
  }

  void stamp(TracePoint& point) const {
    point.updates = updates_;
    point.passes = static_cast<double>(updates_) /
                   static_cast<double>(std::max<std::int64_t>(1, setup_.shape().nnz));
    point.train_s = clock_.seconds();
    point.train_device_s = clock_.device_seconds();
    point.evaluate_s = evaluate_seconds(ranges_);
    point.wall_s = seconds_since(start_);
  }

  StopInput stop_input(const TracePoint& point, bool evaluated) const {
    return {point.epoch, clock_.seconds(), seconds_since(start_), evaluated, point.metrics};
  }

  // Copies the factors to the host as a user needs them, if file to model is measured.
  void bring_factors() {
    if (!is_first_of_process() || !has_model(item_) || has_own_process(item_)) return;
    const PhaseScope range(&ranges_, kFactorsRange);
    ranks_.gather([&] { setup_.prepared()->gather_factors(); });
    try {
      Model copy;
      setup_.prepared()->host_factors(copy);
    } catch (const std::bad_alloc&) {  // the case is complete and stays so
      brought_ = false;
    }
  }

  bool is_first_of_process() const {
    return options_.process_start && store_.ledger().is_first_case();
  }

  // The wall time without evaluations, saving and the rest, once training has begun.
  std::optional<double> file_to_model_s() const {
    if (!is_first_of_process() || !brought_ || result_.epochs == 0) return std::nullopt;
    const std::chrono::duration<double> before = start_ - *options_.process_start;
    const CaseClocks clocks = clocks_of(ranges_, result_.train_s);
    return before.count() - task_.measuring_s + clocks.sum() - clocks.evaluate_s - clocks.save_s -
           clocks.overlap_s(result_.wall_s) + ranges_.clock_seconds(kFactorsRange);
  }

  // Training ends here, whether it came to its end or threw.
  void end_training() {
    if (!host_watch_.trains()) return;
    end_ranks();
    measures_.train_host_load =
        host_watch_.end_training(ranks_.train_use(), setup_.prepared()->team(), clock_.seconds());
    setup_.device().end_training();
  }

  void evaluate_groups() {
    if (is_implicit(item_) || item_.evaluate.user_groups == 0) return;
    const PhaseScope range(&ranges_, kEvaluateRange);
    measures_.user_groups = setup_.evaluation().user_groups(*setup_.prepared());
  }

  void save() {
    const PhaseScope range(&ranges_, kSaveRange);
    result_.unsaved_model = true;
    setup_.evaluation().save(*task_.model_folder, *setup_.prepared());
    result_.unsaved_model = false;
  }

  void end_ranks() {
    if (const auto why = ranks_.end()) end(wait_over_.value_or(StopDecision{Status::error, *why}));
  }

  void write_footer() {
    if (!report_.has_header()) report_.header(setup_);
    end_ranks();
    result_.updates = updates_;
    result_.train_s = clock_.seconds();
    result_.wall_s = seconds_since(start_);
    measures_.file_to_model_s = file_to_model_s();
    store_.ledger().use_start(described_s_ + ranges_.clock_seconds(kStartRange),
                              needs_device(item_));
    measures_.shared = store_.ledger().lent();
    measures_.train_device_s = clock_.device_seconds();
    if (!repeats_) measures_.epochs = clock_.epoch_times();
    setup_.report(measures_);
    for (const auto& warning : setup_.evaluation().warnings()) result_.warnings.push_back(warning);
    const bool failed = result_.status == Status::error && clock_.seconds() > 0;
    const std::string& plugin = find_algorithm(item_.algorithm).origin;
    if (!plugin.empty() && is_failure(result_.status))
      result_.reason += "; the algorithm is of the plugin " + plugin.substr(0, plugin.rfind(','));
    if (result_.status == Status::diverged || failed)
      result_.reason += setup_.evaluation().hint_of_failure();
    ranks_.report(setup_.device(), result_, measures_);
    result_.contention = host_watch_.contention(measures_, setup_.device().get() != nullptr);
    report_.footer(result_, measures_);
  }

  bool stop_requested() {
    return interrupt_level() >= 2 || (ranks_.group() != nullptr && ranks_.group()->heard()) ||
           is_peer_late();
  }
  // An epoch in another process may never end; it is late at twice the time of the last one.
  bool is_peer_late() {
    const double waited_s = seconds_since(asked_);
    return has_own_process(item_) && waited_s >= 2 * clock_.last_group().seconds &&
           times_out("the peer", waited_s);
  }
  int interrupt_level() const { return options_.interrupted ? options_.interrupted() : 0; }

  void end(const StopDecision& decision) {
    result_.status = decision.status;
    result_.reason = decision.reason;
  }

  const CaseTask& task_;
  const Case item_;
  const bool repeats_ = repeats_epochs(item_);
  const RunOptions& options_;
  DataStore& store_;
  CaseRanks ranks_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point asked_ = start_;  // for the epochs of a group, or its evaluation
  Schedule schedule_{item_.schedule};
  Stopping stopping_{item_.stop, error_metric(item_)};
  Ranges ranges_;
  bool brought_ = true;  // the factors reached the host, if needed
  TrainingClock clock_{ranges_, nullptr};
  CaseSetup setup_{task_, item_, options_, store_, ranks_, ranges_};
  HostWatch host_watch_{ranges_, options_.read_host, [this] { return setup_.foreign_cpu_s(); }};
  CaseReport report_;
  CaseResult result_;
  CaseMeasures measures_;
  std::int64_t updates_ = 0;
  double described_s_ = 0;  // until the machine was described, ahead of the clock of the start
  std::optional<StopDecision> wait_over_;  // why the wait was given up
};

}  // namespace

CaseResult run_case(const CaseTask& task, const RunOptions& options, DataStore& store,
                    Progress& progress) {
  return CaseRun(task, options, store, progress).run();
}

}  // namespace mf
