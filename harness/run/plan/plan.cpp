#include "harness/run/plan/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "algorithms/core/registry.hpp"
#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "datasets/load.hpp"
#include "harness/device/device.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/run/probe.hpp"

namespace mf {
namespace {

constexpr double kSmallFiles = 64 << 20;  // bytes, read within a second or so

// A size that is not to be had is the largest number.
bool is_small(const Source& source) {
  std::error_code error;
  double bytes = 0;
  for (const auto& file : source.files) {
    if (!std::filesystem::is_directory(file.path, error)) {
      bytes += static_cast<double>(std::filesystem::file_size(file.path, error));
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(file.path, error)) {
      if (entry.is_regular_file(error)) bytes += static_cast<double>(entry.file_size(error));
    }
  }
  return bytes <= kSmallFiles;
}

// Reads the small files of sets of unknown size, which the run then finds in the cache; with larger
// ones a plan would take as long as their first case. Returns by label why data cannot be read.
std::map<std::string, std::string> read_small_files(const Spec& spec) {
  std::map<std::string, std::string> problems;
  std::set<std::string> seen;
  for (const Case& item : spec.cases) {
    if (!seen.insert(item.data.label()).second || expected_shape(item.data)) continue;
    if (!why_unavailable(item.data).empty()) continue;
    try {
      const auto source = source_of(item.data);
      if (source && is_small(*source)) load_dataset(item.data, hardware_threads());
    } catch (const Error& error) {
      problems[item.data.label()] = error.what();
    }
  }
  return problems;
}

// Free of the device it plans for.
std::optional<double> free_on_device(const PlanOptions& options) {
  if (options.device_free_bytes) return options.device_free_bytes;
  const auto device = find_device();
  if (!device) return std::nullopt;
  return static_cast<double>(device->free_bytes);
}

void plan_memory(PlannedCase& planned, const Case& item, const CaseSizes& sizes, bool shares,
                 const std::optional<double>& free) {
  planned.host_bytes = host_bytes(item, sizes);
  planned.process = process_need(item, sizes.train);
  if (!needs_device(item)) return;
  planned.device_bytes = device_bytes(item, sizes, free);
  if (shares && free && leaves_room_for_ratings(item, sizes, *free))
    *planned.device_bytes += device_ratings_bytes(sizes.train);
}

// Why it would not run here, or nothing.
std::optional<std::string> problem_of(const Case& item, const PlannedCase& planned,
                                      const std::optional<CaseSizes>& sizes,
                                      const MemoryBound& available,
                                      const std::optional<double>& free) {
  if (const std::string missing = why_unavailable(item.data); !missing.empty()) return missing;
  if (const auto why = why_no_implementation(item)) return why;
  if (!sizes) return std::nullopt;
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  if (info.supports) {
    if (const auto why = info.supports(item.params, sizes->train)) return why;
  }
  if (const auto why = why_not_in_process(planned.process)) return why;
  if (const auto why = why_not_in_memory(*planned.all_host_bytes() / kPlanFactor, available))
    return why;
  if (!free) return std::nullopt;
  return why_not_on_device(device_bytes(item, *sizes), *free);
}

PlannedCase plan_case(const Case& item, const DoneAgain& again, bool measure,
                      const MemoryBound& available, const std::optional<double>& free,
                      std::map<std::string, Probe>& probes) {
  PlannedCase planned;
  planned.id = item.id;
  planned.metric = main_metric(item);
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  auto sizes = expected_sizes(item);
  if (sizes) {
    sizes->kept = again.cut;
    plan_memory(planned, item, *sizes, again.trained, free);
  }
  planned.note = problem_of(item, planned, sizes, available, free);
  // What solves for all items at once takes no time in proportion to the ratings.
  if (!measure || !sizes || planned.note || info.by_history) return planned;
  const std::string key = item.algorithm + canonical(item.params.to_json());
  if (probes.count(key) == 0) probes[key] = probe(item);
  const Probe& probed = probes[key];
  planned.note = probed.why_skipped;
  if (!probed.rate) return planned;
  planned.train_s =
      updates_of_epoch(info, sizes->train) * static_cast<double>(item.stop.epochs) / *probed.rate;
  return planned;
}

// What is known of it, or one of its trials: of those with the most factors.
Case case_to_plan(const Spec& spec, const Case& item) {
  if (!item.study) return item;
  const Study& study = spec.studies[*item.study];
  const auto factors = [](const Json& point) { return number_at(point, {"factors"}).value_or(0); };
  const auto largest =
      std::max_element(study.points.begin(), study.points.end(),
                       [&](const Json& a, const Json& b) { return factors(a) < factors(b); });
  Case planned = study.make(*largest, item.seed);
  planned.id = item.id;
  return planned;
}

// As if its first case trained for the epochs of all its trials.
PlannedStudy plan_study(const Spec& spec, std::size_t number, const Plan& plan) {
  const Study& study = spec.studies[number];
  PlannedStudy planned{study.label, std::ssize(study.points), study.runs(), 0, {}};
  std::int64_t trials = planned.trials;
  for (const std::int64_t epochs : study.rungs) {
    planned.epochs += trials * epochs;
    trials = survivors(trials, study.tune.eta);
  }
  for (std::size_t i = 0; i < spec.cases.size(); ++i) {
    if (spec.cases[i].study != number || !plan.cases[i].train_s) continue;
    const double epoch_s = *plan.cases[i].train_s / static_cast<double>(spec.cases[i].stop.epochs);
    planned.train_s = std::min(epoch_s * static_cast<double>(planned.epochs),
                               study.tune.budget_s.value_or(kNever));
    break;
  }
  return planned;
}

// "  its process: 1.2 GiB; not counted: the heap of Java"
std::string process_words(const std::optional<ProcessNeed>& need) {
  if (!need) return "";
  std::string text = "  its process: " + (need->bytes ? format_bytes(*need->bytes) : "unknown");
  if (!need->unknown.empty()) text += (need->bytes ? "; not counted: " : ": ") + need->unknown;
  return text;
}

}  // namespace

std::optional<double> PlannedCase::all_host_bytes() const {
  if (!host_bytes) return std::nullopt;
  return *host_bytes + (process ? process->bytes.value_or(0) : 0);
}

Plan make_plan(const Spec& spec, const PlanOptions& options) {
  Plan plan;
  const std::optional<double> free = free_on_device(options);
  plan.available = memory_limit().available;
  std::map<std::string, Probe> probes;
  const auto unreadable = read_small_files(spec);
  std::vector<const Case*> all;
  for (const Case& item : spec.cases) all.push_back(&item);
  const auto again = options.share ? done_again(all) : std::vector<DoneAgain>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    DoneAgain here = again[i];
    // Or an earlier case has left its ratings there.
    here.trained |= i > 0 && again[i - 1].trained && trains_on_one_device(*all[i]);
    plan.cases.push_back(plan_case(case_to_plan(spec, *all[i]), here, options.measure,
                                   plan.available, free, probes));
    PlannedCase& planned = plan.cases.back();
    const auto problem = unreadable.find(all[i]->data.label());
    if (problem != unreadable.end()) planned.note = problem->second;
    plan.peak_host_bytes = std::max(plan.peak_host_bytes, planned.all_host_bytes().value_or(0));
    plan.peak_device_bytes = std::max(plan.peak_device_bytes, planned.device_bytes.value_or(0));
    plan.total_train_s += planned.train_s.value_or(0);
    if (!planned.train_s) ++plan.not_estimated;
  }
  for (std::size_t i = 0; i < spec.studies.size(); ++i) {
    plan.studies.push_back(plan_study(spec, i, plan));
    plan.total_train_s += plan.studies.back().train_s.value_or(0);
  }
  return plan;
}

std::string format_plan(const Plan& plan, const Spec& spec) {
  std::size_t width = 4;
  for (const auto& item : plan.cases) width = std::max(width, item.id.size());
  std::string text = fmt::format("{:<{}}  {:>10}  {:>10}  {:>12}\n", "case", width, "memory",
                                 "device", "training");
  for (const auto& item : plan.cases) {
    text += fmt::format("{:<{}}  {:>10}  {:>10}  {:>12}{}{}\n", item.id, width,
                        item.host_bytes ? format_bytes(*item.all_host_bytes()) : "?",
                        item.device_bytes ? format_bytes(*item.device_bytes) : "-",
                        item.train_s ? "~" + format_seconds(*item.train_s) : "?",
                        process_words(item.process),
                        item.note ? "  NOT RUNNABLE HERE: " + *item.note : "");
  }
  for (const auto& study : plan.studies) {
    text +=
        fmt::format("tuned: {}: {}, up to {}, {}{}\n", study.label, counted(study.trials, "trial"),
                    counted(study.runs, "run"), counted(study.epochs, "epoch"),
                    study.train_s ? ", training ~" + format_seconds(*study.train_s) : "");
  }
  const auto count = std::ssize(plan.cases);
  text += fmt::format("{}: {}; peak host memory {} of {}{}; ", spec.name, counted(count, "case"),
                      plan.peak_host_bytes > 0 ? format_bytes(plan.peak_host_bytes) : "unknown",
                      format_bytes(static_cast<double>(plan.available.bytes)),
                      plan.available.by.empty() ? "" : " available (" + plan.available.by + ")");
  if (plan.peak_device_bytes > 0) {
    text += fmt::format("peak device memory {}; ", format_bytes(plan.peak_device_bytes));
  }
  if (plan.not_estimated < count) {
    text += fmt::format("training about {}; evaluation and loading come on top",
                        format_seconds(plan.total_train_s));
  } else {
    text += "no time estimated";
  }
  if (plan.not_estimated > 0)
    text += fmt::format(" ({} not estimated)", counted(plan.not_estimated, "case"));
  text += "\n";
  const bool unread = std::any_of(plan.cases.begin(), plan.cases.end(),
                                  [](const auto& item) { return !item.host_bytes && !item.note; });
  if (unread) {
    text += fmt::format(
        "?: a plan reads no files of more than {}; once a run has read them, it knows their size\n",
        format_bytes(kSmallFiles));
  }
  return text;
}

Json to_json(const Plan& plan) {
  Json cases = Json::array();
  for (const auto& item : plan.cases) {
    cases.push_back({{"case_id", item.id},
                     {"metric", item.metric.key()},
                     {"host_bytes", or_null(item.host_bytes)},
                     {"process_bytes", item.process ? or_null(item.process->bytes) : Json()},
                     {"process_unknown", item.process ? item.process->unknown : ""},
                     {"all_host_bytes", or_null(item.all_host_bytes())},
                     {"device_bytes", item.device_bytes.value_or(0)},
                     {"train_s", or_null(item.train_s)},
                     {"note", item.note.value_or("")}});
  }
  Json studies = Json::array();
  for (const auto& study : plan.studies) {
    studies.push_back({{"label", study.label},
                       {"trials", study.trials},
                       {"runs", study.runs},
                       {"epochs", study.epochs},
                       {"train_s", or_null(study.train_s)}});
  }
  return {{"cases", cases},
          {"studies", studies},
          {"train_s", plan.total_train_s},
          {"not_estimated", plan.not_estimated},
          {"peak_host_bytes", plan.peak_host_bytes},
          {"available_host_bytes", plan.available.bytes},
          {"available_host_bytes_by", plan.available.by},
          {"peak_device_bytes", plan.peak_device_bytes}};
}

}  // namespace mf
