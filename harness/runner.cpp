#include "harness/runner.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <new>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "datasets/load.hpp"
#include "harness/environment.hpp"
#include "harness/evaluator.hpp"
#include "harness/model_io.hpp"
#include "harness/ranges.hpp"

namespace mf {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

Json dataset_json(const CaseData& data, const Case& item) {
  const DatasetInfo& info = data.dataset->info;
  const Split& split = *data.split;
  Json scale;
  if (info.scale) {
    scale = {{"min", info.scale->min}, {"max", info.scale->max}, {"step", info.scale->step}};
  }
  return {{"name", info.name},
          {"look_alike", info.look_alike},
          {"source", info.source},
          {"source_sha256", info.source_hash.empty() ? Json() : Json(info.source_hash)},
          {"content_hash", hash_text(info.content_hash)},
          {"n_users", split.train.n_users()},
          {"n_items", split.train.n_items()},
          {"nnz_train", split.train.nnz()},
          {"nnz_test", split.test.nnz()},
          {"nnz_validation", split.validation.nnz()},
          {"split", item.split.to_json()},
          {"cold_users", split.cold_users},
          {"cold_items", split.cold_items},
          {"cold_ratings", split.cold_ratings},
          {"duplicate_pairs", info.duplicate_pairs},
          {"duplicate_policy", info.duplicate_policy},
          {"scale", scale}};
}

Json algorithm_json(const Case& item) {
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  return {{"name", info.name},
          {"family", info.family},
          {"hardware", info.hardware == Hardware::cuda ? "cuda" : "cpu"},
          {"paper", info.paper},
          {"params", item.params.to_json()}};
}

// Why the case cannot start, before anything is allocated.
struct Refusal {
  std::string status;
  std::string reason;
};

std::optional<Refusal> refuse(const Case& item, const ProblemShape& shape) {
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  if (!is_built(item.algorithm)) {
    return Refusal{"skipped", fmt::format("{} needs CUDA; this build has none", item.algorithm)};
  }
  if (info.supports) {
    if (const auto reason = info.supports(item.params, shape)) return Refusal{"skipped", *reason};
  }
  const double need = (info.memory ? info.memory(item.params, shape).host_bytes : 0) +
                      model_bytes(item.params, shape);
  const auto free = static_cast<double>(available_memory_bytes());
  if (free > 0 && need > free) {
    return Refusal{"oom",
                   fmt::format("needs {} of memory beyond the ratings, {} are available; lower "
                               "`factors` or use a smaller data set",
                               format_bytes(need), format_bytes(free))};
  }
  return std::nullopt;
}

class CaseRun {
 public:
  CaseRun(const Case& item, DataStore& store, const RunSettings& settings, const RunHooks& hooks,
          ResultWriter& writer)
      : item_(item),
        store_(store),
        settings_(settings),
        hooks_(hooks),
        writer_(writer),
        team_(threads_of(item.params)),
        schedule_(item.schedule),
        stopping_(item.stop) {
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
      end(error.kind() == ErrorKind::memory ? "oom" : "error", error.what());
    }
    write_footer();
    return result_;
  }

 private:
  void run_or_refuse() {
    load();
    const Ratings& train = data_.split->train;
    shape_ = {train.n_users(), train.n_items(), train.nnz()};
    if (const auto refusal = refuse(item_, shape_)) {
      write_header(Work{});
      end(refusal->status, refusal->reason);
      return;
    }
    prepare();
    write_header(algorithm_->work_per_epoch());
    train_loop();
    if (result_.status == "completed" && !settings_.model_folder.empty()) {
      save_model(settings_.model_folder, algorithm_->factors(), train, item_.resolved);
    }
  }

  void load() {
    const PhaseScope range(&ranges_, "load");
    data_ = store_.get(item_);
  }

  void prepare() {
    algorithm_ = make_algorithm(item_.algorithm, item_.params);
    const Ratings& train = data_.split->train;
    evaluator_ = std::make_unique<Evaluator>(train);
    const auto& scale = data_.dataset->info.scale;
    if (item_.evaluate.clip && !scale) {
      fail(ErrorKind::usage,
           "evaluate.clip needs the rating scale of {}: declare \"rating_scale\": {{\"min\": 1, "
           "\"max\": 5, \"step\": 1}} beside its files",
           item_.data.label());
    }
    if (item_.evaluate.clip) evaluator_->set_clip(scale->min, scale->max);
    const ModelKind kind = item_.params.has("model")
                               ? parse_model_kind(item_.params.choice("model"))
                               : ModelKind::plain;
    const Model initial = initial_model(train.n_users(), train.n_items(),
                                        static_cast<std::int32_t>(item_.params.integer("factors")),
                                        kind, mean_rating(train), item_.init, team_.size());
    context_.team = &team_;
    context_.seed = item_.seed;
    context_.phases = &ranges_;
    context_.stop_requested = [this] { return interrupt_level() >= 2; };
    const PhaseScope range(&ranges_, "prepare");
    algorithm_->prepare(train, initial, context_);
  }

  void train_loop() {
    TracePoint point = evaluate(0);
    stopping_.start(point.test_rmse);
    record(point);
    if (auto decision = stopping_.check(stop_input(point, true))) {
      return end(decision->status, decision->reason);
    }
    for (std::int64_t epoch = 1;; ++epoch) {
      const double rate = schedule_.rate(epoch);
      const double seconds = timed_epoch({epoch, rate});
      if (interrupt_level() >= 2) {
        return end("interrupted", fmt::format("given up in epoch {}", epoch));
      }
      result_.epochs = epoch;
      if (finish_epoch(epoch, rate, seconds)) return;
    }
  }

  double timed_epoch(const EpochArgs& args) {
    const PhaseScope range(&ranges_, "epoch");
    const auto start = Clock::now();
    updates_ += algorithm_->run_epoch(args, context_);
    const double seconds = seconds_since(start);
    train_s_ += seconds;
    return seconds;
  }

  // Evaluates where it is due and decides; true: the case has ended.
  bool finish_epoch(std::int64_t epoch, double rate, double seconds) {
    TracePoint point;
    point.epoch = epoch;
    auto decision = stopping_.check(stop_input(point, false));
    const bool due = epoch % item_.evaluate.every == 0;
    if (decision || due || interrupt_level() > 0) {
      point = evaluate(epoch);
      point.learning_rate = rate;
      point.epoch_s = seconds;
      record(point);
      schedule_.observe(monitored(item_.schedule.monitor, point));
      if (auto by_quality = stopping_.check(stop_input(point, true))) decision = by_quality;
    }
    if (decision) {
      end(decision->status, decision->reason);
    } else if (interrupt_level() > 0) {
      end("interrupted", fmt::format("stopped by the user after epoch {}", epoch));
    }
    return !result_.status.empty();
  }

  bool needs_train_rmse() const {
    return item_.evaluate.train || item_.schedule.monitor == Monitor::train ||
           (item_.stop.plateau_patience > 0 && item_.stop.plateau_monitor == Monitor::train);
  }

  TracePoint evaluate(std::int64_t epoch) {
    const PhaseScope range(&ranges_, "evaluate");
    const auto start = Clock::now();
    const FactorView view = algorithm_->factors();
    const Accuracy test = evaluator_->evaluate(view, data_.split->test, team_);
    TracePoint point;
    point.epoch = epoch;
    point.test_rmse = test.rmse;
    point.test_mae = test.mae;
    point.validation_rmse = evaluator_->evaluate(view, data_.split->validation, team_).rmse;
    point.train_rmse =
        needs_train_rmse() ? evaluator_->evaluate(view, data_.split->train, team_).rmse : kNaN;
    point.learning_rate = kNaN;
    evaluate_s_ += seconds_since(start);
    point.updates = updates_;
    point.passes =
        static_cast<double>(updates_) / static_cast<double>(std::max<std::int64_t>(1, shape_.nnz));
    point.train_s = train_s_;
    point.evaluate_s = evaluate_s_;
    point.wall_s = seconds_since(start_);
    return point;
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
    return {point.epoch, train_s_,        seconds_since(start_),
            evaluated,   point.test_rmse, monitored(item_.stop.plateau_monitor, point)};
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

  void write_header(const Work& work) {
    Json target;
    if (settings_.target_rmse) target = *settings_.target_rmse;
    writer_.append(
        {{"type", "header"},
         {"schema_version", kSchemaVersion},
         {"case_id", item_.id},
         {"case_hash", item_.hash},
         {"spec_name", settings_.spec_name},
         {"spec_hash", settings_.spec_hash},
         {"algorithm", algorithm_json(item_)},
         {"dataset", data_.split ? dataset_json(data_, item_) : Json{{"name", item_.data.label()}}},
         {"seed", item_.seed},
         {"baseline", settings_.baseline.empty() ? Json() : Json(settings_.baseline)},
         {"target_rmse", target},
         {"schedule", item_.schedule.to_json()},
         {"init", to_json(item_.init)},
         {"stop", item_.stop.to_json()},
         {"evaluate", item_.evaluate.to_json()},
         {"work_per_epoch",
          {{"updates", work.updates}, {"bytes", work.bytes}, {"flops", work.flops}}},
         {"environment", environment_json(settings_.command_line)}});
    header_written_ = true;
  }

  void write_footer() {
    if (!header_written_) write_header(Work{});
    const double transfer = ranges_.seconds("transfer");
    result_.updates = updates_;
    result_.train_s = train_s_;
    result_.wall_s = seconds_since(start_);
    writer_.append({{"type", "footer"},
                    {"status", result_.status},
                    {"stop_reason", result_.reason},
                    {"epochs", result_.epochs},
                    {"updates", updates_},
                    {"clocks",
                     {{"load_s", data_.load_s},
                      {"prepare_s", ranges_.seconds("prepare") - transfer},
                      {"transfer_s", transfer},
                      {"train_s", train_s_},
                      {"train_device_s", nullptr},
                      {"evaluate_s", evaluate_s_},
                      {"wall_s", result_.wall_s}}},
                    {"phases", ranges_.to_json()},
                    {"final_test_rmse", number_or_null(result_.final_test_rmse)},
                    {"best_test_rmse", number_or_null(result_.best_test_rmse)},
                    {"best_epoch", result_.best_epoch},
                    {"peak_host_bytes", peak_memory_bytes()},
                    {"peak_device_bytes", nullptr},
                    {"finished_at", utc_now()}});
    writer_.sync();
  }

  const Case& item_;
  DataStore& store_;
  const RunSettings& settings_;
  const RunHooks& hooks_;
  ResultWriter& writer_;
  ThreadTeam team_;
  Schedule schedule_;
  Stopping stopping_;
  Ranges ranges_;
  Context context_;
  CaseData data_;
  ProblemShape shape_;
  std::unique_ptr<Algorithm> algorithm_;
  std::unique_ptr<Evaluator> evaluator_;
  CaseResult result_;
  Clock::time_point start_ = Clock::now();
  std::int64_t updates_ = 0;
  double train_s_ = 0;
  double evaluate_s_ = 0;
  bool header_written_ = false;
};

}  // namespace

Json TracePoint::to_json() const {
  return {{"type", "trace"},
          {"epoch", epoch},
          {"updates", updates},
          {"passes", passes},
          {"train_s", train_s},
          {"train_device_s", nullptr},
          {"epoch_s", epoch_s},
          {"evaluate_s", evaluate_s},
          {"wall_s", wall_s},
          {"test_rmse", number_or_null(test_rmse)},
          {"test_mae", number_or_null(test_mae)},
          {"train_rmse", number_or_null(train_rmse)},
          {"validation_rmse", number_or_null(validation_rmse)},
          {"learning_rate", number_or_null(learning_rate)}};
}

CaseData DataStore::get(const Case& item) {
  const auto start = Clock::now();
  const std::string dataset_key = canonical(item.resolved["dataset"]);
  const std::string split_key = dataset_key + canonical(item.resolved["split"]);
  if (dataset_key != dataset_key_) {
    // The old ones go first: two large sets may not fit beside each other.
    split_.reset();
    dataset_.reset();
    dataset_key_.clear();
    split_key_.clear();
    dataset_ = std::make_shared<const Dataset>(load_dataset(item.data, hardware_threads()));
    dataset_key_ = dataset_key;
  }
  if (split_key != split_key_) {
    split_.reset();
    split_key_.clear();
    split_ = std::make_shared<const Split>(make_split(*dataset_, item.split, hardware_threads()));
    split_key_ = split_key;
  }
  return {dataset_, split_, seconds_since(start)};
}

int threads_of(const Params& params) {
  if (!params.has("threads")) return 1;
  const auto threads = static_cast<int>(params.integer("threads"));
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
