#include "harness/run/runner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <limits>
#include <new>
#include <set>
#include <system_error>

#include "algorithms/core/device_need.hpp"
#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/json_values.hpp"
#include "base/mapped_file.hpp"
#include "base/pages.hpp"
#include "base/timeline.hpp"
#include "harness/device/device_model.hpp"
#include "harness/device/device_sampler.hpp"
#include "harness/device/energy_meter.hpp"
#include "harness/device/environment.hpp"
#include "harness/evaluate/evaluator.hpp"
#include "harness/evaluate/model_io.hpp"
#include "harness/evaluate/quality.hpp"
#include "harness/evaluate/user_groups.hpp"
#include "harness/results/case_clocks.hpp"
#include "harness/results/case_json.hpp"
#include "harness/results/ranges.hpp"
#include "harness/results/result_file.hpp"
#include "harness/run/case_ranks.hpp"
#include "harness/run/epoch_groups.hpp"
#include "harness/run/host_need.hpp"
#include "harness/run/preflight.hpp"
#include "harness/run/prepared.hpp"
#include "harness/run/rank_evaluate.hpp"
#include "harness/run/rank_load.hpp"
#include "harness/run/training_clock.hpp"

namespace mf {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// Without a window to profile, the case as it is.
Case case_to_run(const Case& item, const RunOptions& options) {
  return options.profile ? profiled(item, *options.profile) : item;
}

// Not a number where there was nothing to evaluate or nobody asked.
double number_of(const std::optional<double>& value) { return value.value_or(kNotKnown); }

// What a trial may see of a split: the validation part stands for the test part, too.
std::shared_ptr<const Split> without_test(const Split& split) {
  Split seen = split;
  seen.test = seen.validation;
  return std::make_shared<const Split>(std::move(seen));
}

std::optional<double> rmse_of(const Accuracy& accuracy) {
  return accuracy.count > 0 ? std::optional(accuracy.rmse) : std::nullopt;
}

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

// Where other programs print: <case id>.stderr beside its result.
std::string log_of(const std::string& result_file) {
  return std::filesystem::path(result_file).replace_extension(".stderr").string();
}

void count_slowdowns(DeviceLoad& load, const std::vector<DeviceReading>& readings) {
  for (const auto& one : readings) {
    if (one.slowdowns) mf::count_slowdowns(load, *one.slowdowns);
  }
}

class CaseRun {
 public:
  CaseRun(const CaseTask& task, const RunOptions& options, DataStore& store, Progress& progress)
      : task_(task),
        item_(case_to_run(task.item, options)),
        options_(options),
        store_(store),
        progress_(progress),
        ranks_(options.ranks, task.item),
        writer_(task.result_file),
        schedule_(item_.schedule),
        stopping_(item_.stop, error_metric(item_)) {
    header_.profile = options.profile;
    if (options_.on_range) ranges_.set_observer(options_.on_range);
  }

  CaseResult run() {
    describe_next("case", [&] { return Json{{"case", item_.id}, {"algorithm", item_.algorithm}}; });
    const PhaseScope range(&ranges_, "case");
    try {
      run_or_refuse();
    } catch (...) {
      if (reporting_) throw;
      end_by_exception();
      note_given_up();
    }
    end_watch();
    if (profiling_) end_profile();
    write_footer();
    if (!task_.keep_training_files) store_.drop_training_files();
    return result_;
  }

 private:
  // Facts about the range of that name which begins next, where a timeline is written.
  template <class Facts>
  static void describe_next(const char* range, const Facts& facts) {
    if (Timeline* timeline = Timeline::current()) timeline->describe_next(range, facts());
  }

  void run_or_refuse() {
    store_.ledger().begin_case();
    start();
    if (item_.unresolved) {
      end(item_.unresolved->status, item_.unresolved->reason);
      return;
    }
    load();
    if (const auto why = why_not_evaluated(item_, judged_sizes()))
      fail(ErrorKind::usage, "{}", *why);
    const Ratings& train = data_.split->train;
    shape_ = {train.n_users(), train.n_items(), data_.sizes.train};
    if (const auto refusal = open_or_refuse()) {
      write_header();
      end(refusal->status, refusal->reason);
      return;
    }
    prepare();
    prepare_evaluator();
    write_header();
    train_loop();
    end_watch();
    fail_if_cut();  // the cache file that the ratings lie in
    if (!implicit_ && item_.evaluate.user_groups > 0 && result_.status != Status::interrupted)
      evaluate_groups();
    if (result_.status == Status::completed && task_.model_folder) save();
  }

  // Whatever was thrown belongs to the case. Called while it is being handled.
  void end_by_exception() {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      end(Status::oom,
          "the host's memory did not suffice; lower `factors` or use a smaller data "
          "set");
    } catch (const CaseOver& over) {
      end(status_of(over.why()), over.what());
    } catch (const Error& error) {
      result_.device_failed = error.kind() == ErrorKind::device;
      result_.bad_data = error.kind() == ErrorKind::data;
      end(error.kind() == ErrorKind::memory ? Status::oom : Status::error, error.what());
    } catch (const std::system_error& error) {
      // A thread that is not to be had, as a team says it of its own (base/threads.cpp).
      const bool thread = error.code() == std::errc::resource_unavailable_try_again;
      end(thread ? Status::oom : Status::error, error.what());
    } catch (const std::exception& error) {
      end(Status::error, error.what());
    } catch (...) {
      end(Status::error, "something was thrown that is no std::exception");
    }
  }

  // What an algorithm throws that is told to stop while it prepares is no error.
  void note_given_up() {
    if (interrupt_level() < 2) return;
    end(Status::interrupted, result_.epochs == 0
                                 ? "given up before the first epoch"
                                 : fmt::format("given up after epoch {}", result_.epochs));
  }

  // What the program and the machine are: asking for the device makes its context.
  void start() {
    const PhaseScope range(&ranges_, kStartRange);
    give_back_freed();  // what the case before left must not stand beside what this one takes
    reset_peak_memory();
    header_.environment = environment_json(options_.command_line);
    ranks_.connect();
  }

  void load() {
    const PhaseScope range(&ranges_, kLoadRange);
    const std::string whole = why_whole(item_, task_.model_folder.has_value());
    if (ranks_.count() > 1 && whole.empty()) {
      store_.make_cache(item_);
      ranks_.load_slices([&](Communicator& ranks) {
        data_ = store_.get_slice(item_, ranks, ranks_.on_these_cpus());
        ranks.agree([] {});  // with the others' devices
      });
    } else {
      ranks_.load([&] { data_ = store_.get(item_, task_.keep_ratings); },
                  source_of_data(item_) == DataFrom::cache);
      data_.ranks.why = whole;
    }
    judge_ = is_trial(item_) ? without_test(*data_.split) : data_.split;
  }

  // Of the parts that the case is judged by, over all ranks.
  PartSizes judged_sizes() const { return data_.slice ? data_.sizes : sizes_of(*judge_); }

  std::optional<Refusal> open_or_refuse() {
    const PhaseScope range(&ranges_, kStartRange);
    if (!is_built(item_.algorithm)) return Refusal{Status::skipped, *why_no_implementation(item_)};
    if (needs_device(item_)) {
      try {
        device_ = options_.open_device();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        return Refusal{Status::skipped,
                       fmt::format("{} needs a CUDA device: {}", item_.algorithm, error.what())};
      }
      device_->expect_upload(8 * shape_.nnz);
      watch_device();
      ranges_.set_device(device_.get());
      clock_ = TrainingClock(ranges_, device_.get());
    }
    const PartSizes sizes = judged_sizes();
    const std::int64_t others = sizes.test + sizes.validation + sizes.fold_in;
    measures_.planned_host_bytes = host_need(item_, store_.host_data()).peak();
    if (device_) {
      decide_sharing(others);
      measures_.planned_device_bytes = device_bytes(item_, shape_, others, device_place());
    }
    return refuse(item_, shape_, others, device_.get(), store_.training_files_bytes());
  }

  // The training ratings stay on the device where another case has use of them and they are not in
  // this one's way. Of several devices each has its share.
  void decide_sharing(std::int64_t others) {
    SharedRatings& shared = store_.on_device();
    shares_ratings_ = ranks_.count() == 1 && (task_.keep_on_device || shared.holds()) &&
                      leaves_room_for_ratings(item_, shape_, others, held_bytes(),
                                              static_cast<double>(device_->free_bytes()));
    if (!shares_ratings_) shared.drop();
  }

  // Of the ratings that earlier cases left on the device.
  double held_bytes() {
    const SharedRatings& shared = store_.on_device();
    if (!shared.holds()) return 0;
    return row_ratings_bytes(shape_) + (shared.has_columns() ? column_ratings_bytes(shape_) : 0);
  }

  DevicePlace device_place() {
    return {shares_ratings_, store_.on_device().has_columns(),
            static_cast<double>(device_->free_bytes()) + held_bytes()};
  }

  void watch_device() {
    if (device_->reading().empty()) return;
    sampler_ = std::make_unique<DeviceSampler>([this] {
      const DeviceReading reading = device_->reading();
      show(reading);
      return reading;
    });
    const PhaseScope range(&ranges_, kWatchRange);
    energy_ =
        std::make_unique<EnergyMeter>([this] { return device_->energy_j(); }, options_.watch_pace_s,
                                      [this] { return seconds_since(start_); });
  }

  void prepare() {
    clip_ = clip_range();
    PreparedCase::Lent lent{device_.get(), &ranges_, [this] { return stop_requested(); }};
    lent.ranked = {ranks_.group(), data_.slice.get()};
    lent.foreign.log_file = log_of(task_.result_file);
    lent.foreign.test = &judge_->test;
    lent.ranks_on_these_cpus = ranks_.on_these_cpus();
    lent.foreign.account = [this](const Json& account) { measures_.peer = account; };
    lend_training_files(lent.foreign);
    if (shares_ratings_) lent.ratings = [this](ThreadTeam& team) { return lend_ratings(team); };
    const HostCounters before = read_host();
    {
      const PhaseScope range(&ranges_, kPrepareRange);
      ranks_.prepare([&] {
        prepared_ = std::make_unique<PreparedCase>(item_, data_.split->train, *data_.facts,
                                                   std::move(lent));
      });
    }
    if (data_.slice) {
      drop_training(data_);
      judge_ = data_.split;
    }
    store_.on_device().note(store_.ledger());
    measures_.prepare_load = load_since(before, ranks_.prepare_use());
    count_cpus();
  }

  // Those that nobody will ask for go before they are in the way.
  void lend_training_files(ForeignLoan& lent) {
    if (!has_own_process(item_)) {
      if (!task_.keep_training_files) store_.drop_training_files();
    } else if (task_.keep_training_files || store_.holds_training_files()) {
      lent.training_files = [this] { return store_.training_files(); };
    }
  }

  cuda::DeviceRatings* lend_ratings(ThreadTeam& team) {
    return store_.on_device().lend(data_.split->train, team, stream(), &ranges_, store_.ledger());
  }

  HostCounters read_host() {
    const PhaseScope range(&ranges_, kWatchRange);
    return options_.read_host ? options_.read_host() : probe_.read();
  }

  // Ours and that of processes which the algorithm has started: they are not others.
  OwnUse use_of_case() const {
    OwnUse use = own_use();
    if (prepared_ && prepared_->foreign()) use.cpu_s += prepared_->foreign()->cpu_s();
    return use;
  }

  // What the other ranks did on this machine is ours, too.
  HostLoad load_since(const HostCounters& before, const OwnUse& of_ranks) {
    HostCounters now = read_host();
    now.own += of_ranks;
    const int usable = now.machine_cpus > 0 ? std::min(probe_.usable_cpus(), now.machine_cpus)
                                            : probe_.usable_cpus();
    return host_load(before, now, usable, prepared_->team().size());
  }

  void end_ranks() {
    try {
      ranks_.end();
    } catch (const Error& error) {
      end(Status::error, error.what());
    }
  }

  // That the threads of the case may run on at once.
  void count_cpus() {
    const PhaseScope range(&ranges_, kWatchRange);
    std::set<int> distinct;
    for (const auto& cpus : prepared_->team().cpus()) distinct.insert(cpus.begin(), cpus.end());
    cpus_ = std::min(static_cast<int>(distinct.size()), hardware_threads());
  }

  // Training ends here, whether it came to its end or threw.
  void end_watch() {
    if (!train_began_ || measures_.train_load) return;
    end_ranks();
    HostLoad load = load_since(*train_began_, ranks_.train_use());
    load.own = epochs_use_;
    load.clock_s = clock_.seconds();
    measures_.train_load = load;
    if (!device_) return;
    const PhaseScope range(&ranges_, kWatchRange);
    measures_.device_load.emplace();
    measures_.device_load->others = device_->others();
    if (energy_) energy_->finish();
  }

  // On the evaluation clock: histories of all users are looked through.
  void prepare_evaluator() {
    const PhaseScope range(&ranges_, kEvaluatorRange);
    evaluator_ = std::make_unique<Evaluator>(data_.facts);
    evaluator_->set_stream(stream());
    evaluator_->set_clip(clip_);
    if (!implicit_ && !ranks()) return;
    quality_ = std::make_unique<QualityEvaluator>(
        *judge_, evaluator_->predictor(), fold_in_loss(),
        ranks() ? std::optional(ranking_of(item_)) : std::nullopt, prepared_->team());
    quality_->set_stream(stream());
  }

  // To which predictions are clipped, where the case asks for it. A spec that has no scale for it
  // is refused as a whole.
  std::optional<ClipRange> clip_range() const {
    if (implicit_ || !item_.evaluate.clip) return std::nullopt;
    const RatingScale& scale = data_.info->scale.value();
    return ClipRange{scale.min, scale.max};
  }

  // Of a model that has learned nothing.
  std::optional<double> trivial_error() {
    if (implicit_) return quality_->zero_objective(prepared_->team());
    return rmse_of(evaluator_->evaluate_mean(judge_->test, prepared_->team()));
  }

  bool ranks() const { return item_.evaluate.rank.value_or(false); }
  FoldInLoss fold_in_loss() const {
    return mf::fold_in_loss(find_algorithm(item_.algorithm), item_.params);
  }

  DeviceStream stream() { return device_ ? device_->stream() : nullptr; }

  void train_loop() {
    TracePoint point = evaluate(0);
    stopping_.start(
        {number_of(point.metrics[error_metric(item_)]), number_of(measures_.trivial_error)});
    record(point);
    if (auto decision = stopping_.check(stop_input(point, true))) {
      return end(decision->status, decision->reason);
    }
    train_began_ = read_host();
    while (true) {
      const std::int64_t first = result_.epochs + 1;
      const double rate = schedule_.rate(first);
      const std::int64_t count = group_size(first);
      if (options_.profile && first == options_.profile->warmup + 1) begin_profile();
      run_group({first, rate}, count);
      const std::int64_t last_epoch = first + count - 1;
      if (options_.profile && last_epoch == item_.stop.epochs) end_profile();
      if (interrupt_level() >= 2) {
        return end(Status::interrupted,
                   count == 1 ? fmt::format("given up in epoch {}", first)
                              : fmt::format("given up in epochs {} to {}", first, last_epoch));
      }
      result_.epochs = last_epoch;
      if (finish_group(last_epoch, rate)) return;
    }
  }

  // A group never passes an evaluation, a change of the rate, the last_epoch epoch or the begin of
  // what is profiled.
  std::int64_t group_size(std::int64_t first) const {
    if (!device_ && !repeats_) return 1;
    std::int64_t size =
        std::min({repeats_ ? item_.stop.epochs : group_by_time(clock_.last_group()),
                  epochs_to_multiple(first, item_.evaluate.every), item_.stop.epochs - first + 1});
    if (options_.profile && first <= options_.profile->warmup) {
      size = std::min(size, options_.profile->warmup - first + 1);
    }
    return epochs_at_one_rate(schedule_, first, size);
  }

  void run_group(const EpochArgs& first, std::int64_t count) {
    if (energy_) {
      const PhaseScope range(&ranges_, kWatchRange);
      energy_->begin_group();
    }
    describe_next("epoch", [&] {
      return Json{{"first", first.epoch}, {"count", count}, {"learning_rate", first.learning_rate}};
    });
    {
      const CacheWriter::Pause pause(store_.writer());
      const SampledEpochs sampled(sampler_.get());
      const OwnUse use = use_of_case();
      ranks_.epochs(first, count, [&] {
        TrainingClock::OwnClock own;
        if (prepared_->foreign()) own = [&] { return prepared_->foreign()->own_train_s(); };
        clock_.time_group(
            count, [&] { updates_ += prepared_->run_epochs(first, count); }, own);
      });
      epochs_use_ += use_of_case() - use;
    }
    if (!energy_) return;
    const PhaseScope range(&ranges_, kWatchRange);
    energy_->end_group(clock_.last_group().seconds);
  }

  void pause_energy() {
    if (!energy_) return;
    const PhaseScope range(&ranges_, kWatchRange);
    energy_->pause();
  }

  // Nothing on the CPU and where the driver does not say.
  std::optional<double> energy_j() const {
    if (!energy_) return std::nullopt;
    return energy_->joules(measures_.after.empty() ? std::nullopt : measures_.after.back().power_w);
  }

  // So far, on the evaluation clock, where all ranks are at hand.
  std::optional<double> energy_of_ranks() {
    if (!energy_ || ranks_.count() == 1) return energy_j();
    const PhaseScope range(&ranges_, kWatchRange);
    return total_joules(ranks_.energy(energy_j()));
  }

  // Of the whole case, after the other ranks have told what theirs took.
  void note_energy() {
    measures_.train_energy_j = energy_j();
    if (!energy_ || ranks_.count() == 1) return;
    measures_.energy_of_ranks = {energy_j()};
    for (const Json& one : ranks_.reports()) {
      const Json joules = value_at(one, {"device", "train_energy_j"});
      measures_.energy_of_ranks.push_back(joules.is_number() ? std::optional(joules.get<double>())
                                                             : std::nullopt);
    }
    const bool all = std::ssize(measures_.energy_of_ranks) == ranks_.count();
    measures_.train_energy_j = all ? total_joules(measures_.energy_of_ranks) : std::nullopt;
  }

  void begin_profile() {
    ranges_.begin_profile();
    profiling_ = true;
  }

  void end_profile() {
    ranges_.end_profile();
    profiling_ = false;
  }

  // Evaluates where it is due and decides; true: the case has ended.
  bool finish_group(std::int64_t epoch, double rate) {
    TracePoint point;
    point.epoch = epoch;
    auto decision = stopping_.check(stop_input(point, false));
    const bool due = epoch % item_.evaluate.every == 0;
    if (decision || due || interrupt_level() > 0) {
      read_device();
      pause_energy();
      point = evaluate(epoch);
      point.learning_rate = rate;
      point.epoch_s = epoch_seconds(epoch);
      record(point);
      schedule_.observe(point.metrics.to_minimize(item_.schedule.monitor));
      if (auto by_quality = stopping_.check(stop_input(point, true))) decision = by_quality;
    } else {
      point.updates = updates_;
      point.train_s = clock_.seconds();
      report([&] { progress_.epochs_done(point); });
    }
    if (decision) {
      const bool profiled = options_.profile && decision->status == Status::completed;
      end(decision->status, profiled ? options_.profile->done() : decision->reason);
    } else if (interrupt_level() > 0) {
      end(Status::interrupted, fmt::format("stopped by the user after epoch {}", epoch));
    }
    return ended_;
  }

  // The mean of the last group. What runs from the start for each point has no such group: two
  // runs' difference is mostly their scatter, so it is the mean of its last run.
  double epoch_seconds(std::int64_t epoch) const {
    if (repeats_) return clock_.seconds() / static_cast<double>(epoch);
    return clock_.last_group().seconds / static_cast<double>(clock_.last_group().count);
  }

  // Right after a group, before the device has gone idle.
  void read_device() {
    if (!sampler_) return;
    const bool due = !device_read_ || seconds_since(*device_read_) >= options_.watch_pace_s;
    if (!due) return;
    device_read_ = Clock::now();
    const PhaseScope range(&ranges_, kWatchRange);
    measures_.after.push_back(device_->reading());
  }

  Accuracy evaluate_on(const FactorView& view, const Ratings& part) {
    return evaluator_->evaluate(view, part, prepared_->team());
  }

  TracePoint evaluate(std::int64_t epoch) {
    TracePoint point;
    point.epoch = epoch;
    judge(point);
    point.updates = updates_;
    point.passes =
        static_cast<double>(updates_) / static_cast<double>(std::max<std::int64_t>(1, shape_.nnz));
    point.train_s = clock_.seconds();
    point.train_device_s = clock_.device_seconds();
    point.train_energy_j = energy_of_ranks();
    point.evaluate_s = evaluate_seconds(ranges_);
    point.wall_s = seconds_since(start_);
    return point;
  }

  void judge(TracePoint& point) {
    const PhaseScope range(&ranges_, kEvaluateRange);
    Foreign* const foreign = prepared_->foreign();
    if (const auto reported = foreign ? foreign->reported_rmse() : std::nullopt) {
      take_reported(point, *reported);
      return;
    }
    ranks_.gather([&] { prepared_->gather_factors(); });
    const FactorView view = prepared_->factors();
    if (data_.ranks.all_evaluate) return judge_together(point, view);
    if (point.epoch == 0) measures_.trivial_error = trivial_error();
    set_errors(point, view);
    if (quality_) point.metrics.add(quality_->evaluate(view, prepared_->team()));
  }

  // Each rank its blocks of the test part.
  void judge_together(TracePoint& point, const FactorView& view) {
    ranks_.evaluate(point.epoch, [&] {
      const SharedErrors errors = evaluate_shares(
          {*evaluator_, data_, view, prepared_->team(), *ranks_.group()}, point.epoch);
      if (errors.mean) measures_.trivial_error = rmse_of(*errors.mean);
      if (!is_trial(item_)) point.set_errors(MetricPart::test, errors.test);
      point.set_errors(MetricPart::validation, errors.validation);
    });
  }

  // A program's word for its error, which is all that there is of it.
  void take_reported(TracePoint& point, double rmse) const {
    point.by_program = true;
    point.metrics.set(error_metric(item_), rmse);
  }

  // Values of implicit feedback are no ratings: there is no error of them.
  void set_errors(TracePoint& point, const FactorView& view) {
    if (implicit_) return;
    point.set_errors(error_metric(item_)->part, evaluate_on(view, judge_->test));
    if (!is_trial(item_)) {
      point.set_errors(MetricPart::validation, evaluate_on(view, judge_->validation));
    }
    if (needs_train_errors(item_)) {
      point.set_errors(MetricPart::train, evaluate_on(view, data_.split->train));
    }
  }

  // Where the evaluator or the writer of models needs the host; `copy` then holds the numbers.
  FactorView host_factors(Model& copy) {
    const FactorView view = prepared_->factors();
    if (view.location == Location::host) return view;
    copy = download_model(view, stream());
    return copy.view();
  }

  void evaluate_groups() {
    const PhaseScope range(&ranges_, kEvaluateRange);
    Model copy;
    const FactorView view = host_factors(copy);
    measures_.user_groups = evaluate_user_groups(*evaluator_, view, *data_.split,
                                                 item_.evaluate.user_groups, prepared_->team());
  }

  void save() {
    const PhaseScope range(&ranges_, kSaveRange);
    Model copy;
    const FactorView view = host_factors(copy);
    try {
      save_model(*task_.model_folder, view, data_.split->train, evaluator_->predictor(),
                 fold_in_loss(), item_.resolved);
    } catch (const Error& error) {  // what was measured stands, and --retry trains again
      fail(error.kind(), "the model is not saved: {}", error.what());
    }
  }

  StopInput stop_input(const TracePoint& point, bool evaluated) const {
    return {point.epoch, clock_.seconds(), seconds_since(start_), evaluated, point.metrics};
  }

  // What fails in here is the run's, not the case's: its results can no longer be told.
  template <class Action>
  void report(const Action& action) {
    reporting_ = true;
    action();
    reporting_ = false;
  }

  // The numbers of a trace point, as counters beside what ran.
  static void show(const TracePoint& point) {
    Timeline* timeline = Timeline::current();
    if (timeline == nullptr) return;
    for (const auto& [metric, value] : point.metrics) timeline->counter(metric.key(), value);
    timeline->counter("epoch", static_cast<double>(point.epoch));
  }

  static void show(const DeviceReading& reading) {
    Timeline* timeline = Timeline::current();
    if (timeline == nullptr) return;
    if (reading.sm_clock_hz) timeline->counter("SM clock, MHz", *reading.sm_clock_hz * 1e-6);
    if (reading.power_w) timeline->counter("power, W", *reading.power_w);
    if (reading.temperature_c) timeline->counter("temperature, C", *reading.temperature_c);
  }

  void record(const TracePoint& point) {
    show(point);
    const PhaseScope range(&ranges_, kSaveRange);
    report([&] { writer_.append(point.to_json()); });
    for (const auto& [metric, value] : point.metrics) note(metric, value, point.epoch);
    report([&] { progress_.trace(point); });
  }

  void note(Metric metric, double value, std::int64_t epoch) {
    const auto [at, first] = result_.metrics.try_emplace(metric);
    MetricSummary& summary = at->second;
    summary.final_value = value;
    if (!first && !std::isnan(summary.best) && !metric.is_better(value, summary.best)) return;
    summary.best = value;
    summary.best_epoch = epoch;
    if (metric == main_metric(item_)) result_.best_epoch = epoch;
  }

  bool stop_requested() {
    return interrupt_level() >= 2 || (ranks_.group() != nullptr && ranks_.group()->heard());
  }

  int interrupt_level() const { return options_.interrupted ? options_.interrupted() : 0; }

  void end(Status status, const std::string& reason) {
    ended_ = true;
    result_.status = status;
    result_.reason = reason;
  }

  // With the algorithm's own account of its work, for which it may count rows.
  void write_header() {
    const PhaseScope range(&ranges_, kSaveRange);
    if (prepared_) {
      header_.work = prepared_->algorithm().work_per_epoch();
      header_.facts = prepared_->algorithm().facts();
      header_.placement = placement_json(prepared_->team());
      if (implicit_) header_.loss = fold_in_loss().to_json();
    }
    if (quality_) header_.ranking = quality_->ranking_json();
    report([&] { writer_.append(header_json(task_.spec, item_, data_, header_)); });
    header_written_ = true;
  }

  void write_footer() {
    if (!header_written_) write_header();
    end_ranks();
    result_.ranks_failed = ranks_.failed();
    measures_.ranks = ranks_.reports();
    result_.updates = updates_;
    result_.train_s = clock_.seconds();
    result_.wall_s = seconds_since(start_);
    note_start();
    measures_.shared = store_.ledger().lent();
    measures_.load = data_.load;
    measures_.split_s = data_.split_s;
    measures_.train_device_s = clock_.device_seconds();
    if (!repeats_) measures_.epochs = clock_.epoch_times();
    if (sampler_) measures_.readings = sampler_->readings();
    note_energy();
    if (device_) measures_.peak_device_bytes = device_->peak_bytes();
    if (prepared_) measures_.exchanged = prepared_->exchanged();
    if (prepared_ && prepared_->foreign()) measures_.peer = prepared_->foreign()->finish();
    judge_contention();
    writer_.append(footer_json(result_, measures_, ranges_));
    writer_.sync();
  }

  void judge_contention() {
    if (measures_.device_load) {
      count_slowdowns(*measures_.device_load,
                      measures_.readings.empty() ? measures_.after : measures_.readings);
    }
    Stretches stretches;
    if (measures_.prepare_load) stretches.emplace_back("prepare", *measures_.prepare_load);
    if (measures_.train_load) stretches.emplace_back("training", *measures_.train_load);
    result_.contention = contention_of(stretches, cpus_, measures_.device_load, device_ != nullptr);
  }

  // The first case of a run pays for the others: context of the device, facts about the machine.
  void note_start() {
    constexpr const char* kFirst = "first_case";
    SharedLedger& ledger = store_.ledger();
    if (!ledger.has(kFirst)) {
      const double seconds = ranges_.clock_seconds(kStartRange);
      ledger.made({kFirst, seconds, SharedClock::start}, SharedScope::run);
    }
    ledger.used(kFirst);
  }

  const CaseTask& task_;
  const Case item_;
  const bool implicit_ = is_implicit(item_);
  const bool repeats_ = repeats_epochs(item_);
  const RunOptions& options_;
  DataStore& store_;
  Progress& progress_;
  CaseRanks ranks_;
  ResultWriter writer_;
  const Clock::time_point start_ = Clock::now();
  Schedule schedule_;
  Stopping stopping_;
  std::unique_ptr<DeviceClock> device_;  // outlives all that works on its stream
  std::unique_ptr<DeviceSampler> sampler_;
  std::unique_ptr<EnergyMeter> energy_;           // null on the CPU and without NVML
  std::optional<Clock::time_point> device_read_;  // when it was asked last
  Ranges ranges_;
  TrainingClock clock_{ranges_, nullptr};
  CaseData data_;
  std::shared_ptr<const Split> judge_;  // the parts that the case is judged by
  std::optional<ClipRange> clip_;
  ProblemShape shape_;
  std::unique_ptr<PreparedCase> prepared_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<QualityEvaluator> quality_;
  HeaderFacts header_;
  CaseResult result_;
  CaseMeasures measures_;
  const HostProbe probe_{usable_cpus(), "", [this] { return use_of_case(); }};
  std::optional<HostCounters> train_began_;
  OwnUse epochs_use_;  // within epochs
  int cpus_ = 1;
  std::int64_t updates_ = 0;
  bool shares_ratings_ = false;
  bool header_written_ = false;
  bool profiling_ = false;
  bool ended_ = false;
  bool reporting_ = false;
};

}  // namespace

CaseResult run_case(const CaseTask& task, const RunOptions& options, DataStore& store,
                    Progress& progress) {
  return CaseRun(task, options, store, progress).run();
}

}  // namespace mf
