#include "harness/runner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "harness/case_json.hpp"
#include "harness/device_model.hpp"
#include "harness/environment.hpp"
#include "harness/epoch_groups.hpp"
#include "harness/evaluator.hpp"
#include "harness/model_io.hpp"
#include "harness/preflight.hpp"
#include "harness/ranges.hpp"
#include "harness/training_clock.hpp"
#include "harness/user_groups.hpp"

namespace mf {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Without a window to profile, the case as it is.
Case case_to_run(const Case& item, const RunSettings& settings) {
  return settings.profile ? profiled(item, *settings.profile) : item;
}

class CaseRun {
 public:
  CaseRun(const Case& item, DataStore& store, const RunSettings& settings, const RunHooks& hooks,
          ResultWriter& writer)
      : item_(case_to_run(item, settings)),
        store_(store),
        settings_(settings),
        hooks_(hooks),
        writer_(writer),
        environment_(environment_json(settings.command_line)),
        team_(threads_of(item_)),
        schedule_(item_.schedule),
        stopping_(item_.stop) {
    result_.final_test_rmse = result_.best_test_rmse = kNaN;
    if (hooks_.on_range) ranges_.set_observer(hooks_.on_range);
  }

  CaseResult run() {
    reset_peak_memory();
    const PhaseScope range(&ranges_, "case");
    try {
      run_or_refuse();
    } catch (const std::bad_alloc&) {
      end("oom", "the host's memory did not suffice; lower `factors` or use a smaller data set");
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      result_.device_failed = error.kind() == ErrorKind::device;
      end(error.kind() == ErrorKind::memory ? "oom" : "error", error.what());
    }
    if (profiling_) end_profile();
    write_footer();
    return result_;
  }

 private:
  void run_or_refuse() {
    load();
    const Ratings& train = data_.split->train;
    shape_ = {train.n_users(), train.n_items(), train.nnz()};
    if (const auto refusal = open_or_refuse()) {
      write_header(Work{}, Json::object());
      end(refusal->status, refusal->reason);
      return;
    }
    prepare();
    write_header(algorithm_->work_per_epoch(), algorithm_->facts());
    train_loop();
    if (item_.evaluate.user_groups > 0 && result_.status != "interrupted") evaluate_groups();
    if (result_.status == "completed" && !settings_.model_folder.empty()) save();
  }

  void load() {
    const PhaseScope range(&ranges_, "load");
    data_ = store_.get(item_);
  }

  std::optional<Refusal> open_or_refuse() {
    if (!is_built(item_.algorithm)) return Refusal{"skipped", why_no_implementation(item_)};
    if (needs_device(item_)) {
      try {
        device_ = hooks_.open_device ? hooks_.open_device() : open_device();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        return Refusal{"skipped",
                       fmt::format("{} needs a CUDA device: {}", item_.algorithm, error.what())};
      }
      ranges_.set_device(device_.get());
      clock_ = TrainingClock(ranges_, device_.get());
    }
    const std::int64_t others = data_.split->test.nnz() + data_.split->validation.nnz();
    return refuse(item_, shape_, others, device_.get());
  }

  void prepare() {
    algorithm_ = make_algorithm(item_.algorithm, item_.params);
    const Ratings& train = data_.split->train;
    prepare_evaluator();
    const ModelKind kind = item_.params.has("model")
                               ? parse_model_kind(item_.params.choice("model"))
                               : ModelKind::plain;
    const Model initial = initial_model(train.n_users(), train.n_items(),
                                        static_cast<std::int32_t>(item_.params.integer("factors")),
                                        kind, mean_rating(train), item_.init, team_.size());
    context_.team = &team_;
    context_.seed = item_.seed;
    context_.phases = &ranges_;
    context_.stream = stream();
    context_.stop_requested = [this] { return interrupt_level() >= 2; };
    const PhaseScope range(&ranges_, "prepare");
    algorithm_->prepare(train, initial, context_);
    synchronize();
  }

  void prepare_evaluator() {
    evaluator_ = std::make_unique<Evaluator>(data_.split->train);
    evaluator_->set_stream(stream());
    if (!item_.evaluate.clip) return;
    const auto& scale = data_.dataset->info.scale;
    if (!scale) {
      fail(ErrorKind::usage,
           "evaluate.clip needs the rating scale of {}: declare \"rating_scale\": {{\"min\": 1, "
           "\"max\": 5, \"step\": 1}} beside its files",
           item_.data.label());
    }
    evaluator_->set_clip(ClipRange{scale->min, scale->max});
  }

  void* stream() { return device_ ? device_->stream() : nullptr; }

  void synchronize() {
    if (device_) device_->synchronize();
  }

  void train_loop() {
    TracePoint point = evaluate(0);
    stopping_.start(point.test_rmse);
    record(point);
    if (auto decision = stopping_.check(stop_input(point, true))) {
      return end(decision->status, decision->reason);
    }
    while (true) {
      const std::int64_t first = result_.epochs + 1;
      const double rate = schedule_.rate(first);
      const std::int64_t count = group_size(first);
      if (settings_.profile && first == settings_.profile->warmup + 1) begin_profile();
      run_group({first, rate}, count);
      const std::int64_t last = first + count - 1;
      if (settings_.profile && last == item_.stop.epochs) end_profile();
      if (interrupt_level() >= 2) {
        return end("interrupted", count == 1
                                      ? fmt::format("given up in epoch {}", first)
                                      : fmt::format("given up in epochs {} to {}", first, last));
      }
      result_.epochs = last;
      if (finish_group(last, rate)) return;
    }
  }

  // A group never passes an evaluation, a change of the rate, the last epoch or the begin of what
  // is profiled.
  std::int64_t group_size(std::int64_t first) const {
    if (!device_) return 1;
    std::int64_t size =
        std::min({group_by_time(clock_.last_group()),
                  epochs_to_multiple(first, item_.evaluate.every), item_.stop.epochs - first + 1});
    if (settings_.profile && first <= settings_.profile->warmup) {
      size = std::min(size, settings_.profile->warmup - first + 1);
    }
    return epochs_at_one_rate(schedule_, first, size);
  }

  void run_group(const EpochArgs& first, std::int64_t count) {
    clock_.time_group(count, [&] { updates_ += algorithm_->run_epochs(first, count, context_); });
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
      sample_sm_clock();
      point = evaluate(epoch);
      point.learning_rate = rate;
      point.epoch_s = clock_.last_group().seconds / static_cast<double>(clock_.last_group().count);
      record(point);
      schedule_.observe(monitored(item_.schedule.monitor, point));
      if (auto by_quality = stopping_.check(stop_input(point, true))) decision = by_quality;
    }
    if (decision) {
      const bool profiled = settings_.profile && decision->status == "completed";
      end(decision->status, profiled ? settings_.profile->done() : decision->reason);
    } else if (interrupt_level() > 0) {
      end("interrupted", fmt::format("stopped by the user after epoch {}", epoch));
    }
    return !result_.status.empty();
  }

  // Right after a group, before the device has gone idle.
  void sample_sm_clock() {
    const auto hertz = device_ ? device_->sm_clock_hz() : std::nullopt;
    if (hertz) measures_.sm_clocks_hz.push_back(static_cast<double>(*hertz));
  }

  TracePoint evaluate(std::int64_t epoch) {
    const PhaseScope range(&ranges_, "evaluate");
    const auto start = Clock::now();
    const FactorView view = factors();
    const Accuracy test = evaluator_->evaluate(view, data_.split->test, team_);
    TracePoint point;
    point.epoch = epoch;
    point.test_rmse = test.rmse;
    point.test_mae = test.mae;
    point.validation_rmse = evaluator_->evaluate(view, data_.split->validation, team_).rmse;
    point.train_rmse =
        needs_train_rmse(item_) ? evaluator_->evaluate(view, data_.split->train, team_).rmse : kNaN;
    point.learning_rate = kNaN;
    measures_.evaluate_s += seconds_since(start);
    point.updates = updates_;
    point.passes =
        static_cast<double>(updates_) / static_cast<double>(std::max<std::int64_t>(1, shape_.nnz));
    point.train_s = clock_.seconds();
    point.train_device_s = clock_.device_seconds();
    point.evaluate_s = measures_.evaluate_s;
    point.wall_s = seconds_since(start_);
    return point;
  }

  FactorView factors() {
    synchronize();
    return algorithm_->factors();
  }

  // Where the evaluator or the writer of models needs the host; `copy` then holds the numbers.
  FactorView host_factors(Model& copy) {
    const FactorView view = factors();
    if (view.location == Location::host) return view;
    copy = download_model(view, context_.stream);
    return copy.view();
  }

  void evaluate_groups() {
    const PhaseScope range(&ranges_, "evaluate");
    const auto start = Clock::now();
    Model copy;
    const FactorView view = host_factors(copy);
    measures_.user_groups =
        evaluate_user_groups(*evaluator_, view, *data_.split, item_.evaluate.user_groups, team_);
    measures_.evaluate_s += seconds_since(start);
  }

  void save() {
    Model copy;
    save_model(settings_.model_folder, host_factors(copy), data_.split->train, evaluator_->clip(),
               item_.resolved);
  }

  static double monitored(Monitor monitor, const TracePoint& point) {
    switch (monitor) {
      case Monitor::train:
        return point.train_rmse;
      case Monitor::validation:
        return point.validation_rmse;
      case Monitor::test:
        break;
    }
    return point.test_rmse;
  }

  StopInput stop_input(const TracePoint& point, bool evaluated) const {
    return {point.epoch, clock_.seconds(), seconds_since(start_),
            evaluated,   point.test_rmse,  monitored(item_.stop.plateau_monitor, point)};
  }

  void record(const TracePoint& point) {
    writer_.append(point.to_json());
    result_.final_test_rmse = point.test_rmse;
    if (!(point.test_rmse >= result_.best_test_rmse)) {
      result_.best_test_rmse = point.test_rmse;
      result_.best_epoch = point.epoch;
    }
    if (hooks_.on_trace) hooks_.on_trace(point);
  }

  int interrupt_level() const { return hooks_.interrupted ? hooks_.interrupted() : 0; }

  void end(const std::string& status, const std::string& reason) {
    result_.status = status;
    result_.reason = reason;
  }

  void write_header(const Work& work, const Json& facts) {
    writer_.append(header_json(item_, data_, settings_, work, facts, environment_));
    header_written_ = true;
  }

  void write_footer() {
    if (!header_written_) write_header(Work{}, Json::object());
    result_.updates = updates_;
    result_.train_s = clock_.seconds();
    result_.wall_s = seconds_since(start_);
    measures_.load_s = data_.load_s;
    measures_.train_device_s = clock_.device_seconds();
    if (device_) measures_.peak_device_bytes = device_->peak_bytes();
    writer_.append(footer_json(result_, measures_, ranges_));
    writer_.sync();
  }

  const Case item_;
  DataStore& store_;
  const RunSettings& settings_;
  const RunHooks& hooks_;
  ResultWriter& writer_;
  const Clock::time_point start_ = Clock::now();
  const Json environment_;
  ThreadTeam team_;
  Schedule schedule_;
  Stopping stopping_;
  std::unique_ptr<DeviceClock> device_;  // outlives all that works on its stream
  Ranges ranges_;
  TrainingClock clock_{ranges_, nullptr};
  Context context_;
  CaseData data_;
  ProblemShape shape_;
  std::unique_ptr<Algorithm> algorithm_;
  std::unique_ptr<Evaluator> evaluator_;
  CaseResult result_;
  CaseMeasures measures_;
  std::int64_t updates_ = 0;
  bool header_written_ = false;
  bool profiling_ = false;
};

}  // namespace

int threads_of(const Case& item) {
  if (!item.params.has("threads")) {
    const bool device = find_algorithm(item.algorithm).hardware == Hardware::cuda;
    return device ? hardware_threads() : 1;
  }
  const auto threads = static_cast<int>(item.params.integer("threads"));
  return threads == 0 ? hardware_threads() : threads;
}

double model_bytes(const Params& params, const ProblemShape& shape) {
  const double row = static_cast<double>(params.integer("factors") + 1) * sizeof(float);
  return row * static_cast<double>(shape.n_users + shape.n_items);
}

CaseResult run_case(const Case& item, DataStore& store, const RunSettings& settings,
                    const RunHooks& hooks, ResultWriter& writer) {
  return CaseRun(item, store, settings, hooks, writer).run();
}

}  // namespace mf
