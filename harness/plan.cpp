#include "harness/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "algorithms/core/registry.hpp"
#include "base/text.hpp"
#include "datasets/load.hpp"
#include "datasets/synthetic.hpp"
#include "harness/device.hpp"
#include "harness/environment.hpp"
#include "harness/preflight.hpp"
#include "harness/ranges.hpp"
#include "harness/runner.hpp"

namespace mf {
namespace {

constexpr double kProbeSeconds = 0.1;
constexpr int kProbeEpochs = 20;
constexpr double kRatingBytes = 12;

// Ratings a second, measured.
double probe(const Case& item) {
  static const Dataset small = make_look_alike("ml-100k", 1.0, 1, 1);
  const Ratings& train = small.ratings;
  ThreadTeam team(threads_of(item));
  const ModelKind kind =
      item.params.has("model") ? parse_model_kind(item.params.choice("model")) : ModelKind::plain;
  const Model initial = initial_model(train.n_users(), train.n_items(),
                                      static_cast<std::int32_t>(item.params.integer("factors")),
                                      kind, mean_rating(train), item.init, team.size());
  const auto device = needs_device(item) ? open_device() : nullptr;
  const auto synchronize = [&] {
    if (device) device->synchronize();
  };
  Context context;
  context.team = &team;
  context.stream = device ? device->stream() : nullptr;
  const auto algorithm = make_algorithm(item.algorithm, item.params);
  algorithm->prepare(train, initial, context);
  algorithm->run_epoch({1, item.schedule.learning_rate}, context);
  synchronize();
  const auto start = Clock::now();
  double updates = 0;
  for (int epoch = 2; epoch <= kProbeEpochs && seconds_since(start) < kProbeSeconds; ++epoch) {
    updates +=
        static_cast<double>(algorithm->run_epoch({epoch, item.schedule.learning_rate}, context));
    synchronize();
  }
  return updates / std::max(seconds_since(start), 1e-9);
}

double train_share(const SplitSpec& split) {
  const double test = split.kind == SplitSpec::Kind::holdout ? split.test_fraction : 0;
  return (1 - test) * (1 - split.validation_fraction);
}

std::string problem_of(const Case& item, const ProblemShape& shape) {
  if (const std::string missing = why_unavailable(item.data); !missing.empty()) return missing;
  if (const std::string why = why_no_implementation(item); !why.empty()) return why;
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  if (info.supports && shape.nnz > 0) {
    if (const auto reason = info.supports(item.params, shape)) return *reason;
  }
  return "";
}

PlannedCase plan_case(const Case& item, bool measure, std::map<std::string, double>& rates) {
  PlannedCase planned;
  planned.id = item.id;
  const auto known = expected_shape(item.data);
  ProblemShape shape;
  if (known) {
    const double train = static_cast<double>(known->nnz) * train_share(item.split);
    shape = {known->n_users, known->n_items, static_cast<std::int64_t>(train)};
    const AlgorithmInfo& info = find_algorithm(item.algorithm);
    const MemoryNeed need = info.memory ? info.memory(item.params, shape) : MemoryNeed{};
    // The whole set, its parts, the initial model and what the algorithm takes.
    planned.host_bytes = 2 * kRatingBytes * static_cast<double>(known->nnz) +
                         model_bytes(item.params, shape) + need.host_bytes;
    planned.device_bytes = device_bytes(item, shape, known->nnz - shape.nnz);
  }
  planned.note = problem_of(item, shape);
  if (planned.host_bytes > static_cast<double>(total_memory_bytes()) && planned.note.empty()) {
    planned.note =
        fmt::format("needs {} of memory, the machine has {}", format_bytes(planned.host_bytes),
                    format_bytes(static_cast<double>(total_memory_bytes())));
  }
  if (planned.device_bytes > 0 && planned.note.empty()) {
    const auto device = find_device();
    const double free = device ? static_cast<double>(device->free_bytes) : 0;
    planned.note = why_not_on_device(planned.device_bytes, free);
  }
  if (!measure || !known || !planned.note.empty()) return planned;
  const std::string key = item.algorithm + canonical(item.params.to_json());
  if (rates.count(key) == 0) rates[key] = probe(item);
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  const double updates =
      info.updates_per_epoch ? info.updates_per_epoch(shape) : static_cast<double>(shape.nnz);
  planned.train_s = updates * static_cast<double>(item.stop.epochs) / rates[key];
  return planned;
}

}  // namespace

Plan make_plan(const Spec& spec, bool measure) {
  Plan plan;
  std::map<std::string, double> rates;
  for (const auto& item : spec.cases) {
    plan.cases.push_back(plan_case(item, measure, rates));
    const PlannedCase& planned = plan.cases.back();
    plan.peak_host_bytes = std::max(plan.peak_host_bytes, planned.host_bytes);
    plan.peak_device_bytes = std::max(plan.peak_device_bytes, planned.device_bytes);
    if (planned.train_s) {
      plan.total_train_s += *planned.train_s;
    } else {
      ++plan.not_estimated;
    }
  }
  return plan;
}

std::string format_plan(const Plan& plan, const Spec& spec) {
  std::size_t width = 4;
  for (const auto& item : plan.cases) width = std::max(width, item.id.size());
  std::string text = fmt::format("{:<{}}  {:>10}  {:>10}  {:>12}\n", "case", width, "memory",
                                 "device", "training");
  for (const auto& item : plan.cases) {
    text += fmt::format("{:<{}}  {:>10}  {:>10}  {:>12}{}\n", item.id, width,
                        item.host_bytes > 0 ? format_bytes(item.host_bytes) : "?",
                        item.device_bytes > 0 ? format_bytes(item.device_bytes) : "-",
                        item.train_s ? "~" + format_seconds(*item.train_s) : "?",
                        item.note.empty() ? "" : "  NOT RUNNABLE HERE: " + item.note);
  }
  const auto count = plan.cases.size();
  text += fmt::format("{}: {} case{}; peak host memory {} of {}; ", spec.name, count,
                      count == 1 ? "" : "s",
                      plan.peak_host_bytes > 0 ? format_bytes(plan.peak_host_bytes) : "unknown",
                      format_bytes(static_cast<double>(total_memory_bytes())));
  if (plan.peak_device_bytes > 0) {
    text += fmt::format("peak device memory {}; ", format_bytes(plan.peak_device_bytes));
  }
  if (plan.not_estimated < static_cast<int>(count)) {
    text += fmt::format("training about {}; evaluation and loading come on top",
                        format_seconds(plan.total_train_s));
  } else {
    text += "no time estimated";
  }
  if (plan.not_estimated > 0) text += fmt::format(" ({} cases not estimated)", plan.not_estimated);
  text += "\n";
  return text;
}

Json to_json(const Plan& plan) {
  Json cases = Json::array();
  for (const auto& item : plan.cases) {
    cases.push_back({{"case_id", item.id},
                     {"host_bytes", item.host_bytes > 0 ? Json(item.host_bytes) : Json()},
                     {"device_bytes", item.device_bytes},
                     {"train_s", item.train_s ? Json(*item.train_s) : Json()},
                     {"note", item.note}});
  }
  return {{"cases", cases},
          {"train_s", plan.total_train_s},
          {"not_estimated", plan.not_estimated},
          {"peak_host_bytes", plan.peak_host_bytes},
          {"peak_device_bytes", plan.peak_device_bytes}};
}

}  // namespace mf
