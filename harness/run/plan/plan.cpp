#include "harness/run/plan/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <system_error>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/registry.hpp"
#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "datasets/load.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "harness/device/device.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/meaning/ranges.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/run/prepared.hpp"

namespace mf {
namespace {

constexpr double kSmallFiles = 64 << 20;  // bytes, read within a second or so
constexpr double kProbeSeconds = 0.1;
constexpr int kProbeEpochs = 20;

// By the process's own clock, since messages take longer than such an epoch. A library that starts
// again is asked for several epochs at once.
double probe_process(PreparedCase& prepared, const Case& item) {
  constexpr std::int64_t kEpochs = 3;
  const auto updates =
      static_cast<double>(prepared.run_epochs({1, item.schedule.learning_rate}, kEpochs));
  return updates / std::max(prepared.foreign()->own_train_s(), 1e-9);
}

// Ratings a second, measured.
double rate_of(const Case& item) {
  static const Dataset small = make_look_alike("ml-100k", 1.0, 1, 1);
  static const RatingFacts facts = facts_of(small.ratings, 1);
  const auto device = needs_device(item) ? open_device() : nullptr;
  PreparedCase prepared(item, small.ratings, facts, {device.get(), nullptr, {}});
  if (prepared.foreign() != nullptr) return probe_process(prepared, item);
  const auto run_epoch = [&](std::int64_t epoch) {
    const std::int64_t updates = prepared.run_epochs({epoch, item.schedule.learning_rate}, 1);
    prepared.synchronize();
    return static_cast<double>(updates);
  };
  run_epoch(1);
  const auto start = Clock::now();
  double updates = 0;
  for (int epoch = 2; epoch <= kProbeEpochs && seconds_since(start) < kProbeSeconds; ++epoch) {
    updates += run_epoch(epoch);
  }
  return updates / std::max(seconds_since(start), 1e-9);
}

struct Probe {
  std::optional<double> rate;              // ratings a second
  std::optional<std::string> why_skipped;  // what its case would end with
};

// A library may find out only when it starts that it cannot run here. One that is too slow for its
// timeout, or diverges on the data of the probe, may do neither on those of its case.
Probe probe(const Case& item) {
  try {
    return {rate_of(item), {}};
  } catch (const CaseOver& over) {
    if (over.why() != CaseOver::Why::skipped) return {};
    return {{}, over.what()};
  }
}

// Why it would not run here, or nothing.
std::optional<std::string> problem_of(const Case& item, const PlannedCase& planned,
                                      const std::optional<std::string>& not_in_memory,
                                      const ProblemShape& shape,
                                      const std::optional<double>& free) {
  if (const std::string missing = why_unavailable(item.data); !missing.empty()) return missing;
  if (const auto why = why_no_implementation(item)) return why;
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  if (info.supports && shape.nnz > 0) {
    if (const auto reason = info.supports(item.params, shape)) return reason;
  }
  if (const auto why = why_not_in_process(planned.process)) return why;
  if (not_in_memory) return not_in_memory;
  if (!planned.least_device_bytes) return std::nullopt;
  return why_not_on_device(*planned.least_device_bytes, free);
}

// What the cases before this one of the spec leave to it.
struct Place {
  bool has_split = false;
  bool has_ratings = false;
  bool keeps_whole = false;
  bool keeps_on_device = false;
  bool has_columns = false;  // R by columns is there for an earlier case
};

bool asks_for_columns(const Case& item) {
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  if (!info.memory) return false;
  const auto beside = info.memory(item.params, {}).beside_ratings;
  return beside && beside->columns;
}

std::vector<Place> places_of(std::span<const Case* const> cases) {
  const auto again = done_again(cases);
  std::vector<Place> places(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Place& place = places[i];
    place.keeps_whole = again[i].cut;
    place.keeps_on_device = again[i].trained;
    if (i == 0) continue;
    const Case &own = *cases[i], &before = *cases[i - 1];
    place.has_ratings = own.resolved.at("dataset") == before.resolved.at("dataset");
    place.has_split = place.has_ratings && own.resolved.at("split") == before.resolved.at("split");
    if (!place.has_split) continue;
    if (trains_on_one_device(own) && trains_on_one_device(before)) place.keeps_on_device = true;
    place.has_columns = places[i - 1].has_columns || asks_for_columns(before);
  }
  return places;
}

// Whether ratings stay on the device for cases before and after; not without a device, of which it
// is not known what it has room for.
bool keeps_on_device(const Case& item, const Place& place, const ProblemShape& shape,
                     std::int64_t others, const std::optional<double>& free) {
  return place.keeps_on_device && free && leaves_room_for_ratings(item, shape, others, 0, *free);
}

void plan_device(PlannedCase& planned, const Case& item, const Place& place,
                 const ProblemShape& shape, std::int64_t others,
                 const std::optional<double>& free) {
  if (!needs_device(item)) return;
  DevicePlace on_device = {false, false, free};
  planned.device_bytes = device_bytes(item, shape, others, on_device);
  planned.least_device_bytes = least_device_bytes(item, shape, others, on_device);
  if (!place.keeps_on_device) return;
  on_device.keeps_ratings = true;
  on_device.has_columns = place.has_columns;
  planned.shared_device_bytes = device_bytes(item, shape, others, on_device);
  if (keeps_on_device(item, place, shape, others, free)) {
    planned.device_bytes = planned.shared_device_bytes;
  }
}

// Free of the device it plans for.
std::optional<double> free_on_device(const PlanOptions& options) {
  if (options.device_free_bytes) return options.device_free_bytes;
  const auto device = find_device();
  if (!device) return std::nullopt;
  return static_cast<double>(device->free_bytes);
}

// For a folder those of its files, as readers take them. What cannot be looked at is not small.
double bytes_at(const std::filesystem::path& path) {
  std::error_code error;
  double bytes = 0;
  const auto add = [&](const std::filesystem::path& file) {
    const auto size = std::filesystem::file_size(file, error);
    bytes += error ? kNever : static_cast<double>(size);
  };
  if (!std::filesystem::is_directory(path, error)) {
    add(path);
    return bytes;
  }
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.is_regular_file(error)) add(entry.path());
  }
  return error ? kNever : bytes;
}

bool is_small(const Source& source) {
  double bytes = 0;
  for (const auto& file : source.files) bytes += bytes_at(file.path);
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

PlannedCase plan_case(const Case& item, const Place& place, bool measure,
                      const MemoryBound& available, const std::optional<double>& free, double& left,
                      std::map<std::string, Probe>& probes) {
  PlannedCase planned;
  planned.id = item.id;
  planned.metric = main_metric(item);
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  auto known = expected_data(item);
  ProblemShape shape;
  std::optional<std::string> not_in_memory;
  if (known) {
    shape = {known->whole.n_users, known->whole.n_items, known->train_nnz};
    if (place.has_ratings) known->from = DataFrom::ratings_at_hand;
    if (place.has_split) known->from = DataFrom::split_at_hand;
    known->kept = place.keeps_whole;
    known->program_bytes = program_bytes();
    known->standing_bytes = left;
    const HostNeed need = host_need(item, *known);
    left = left_standing(item, *known);
    planned.host_bytes = need.peak();
    planned.process = process_need(item, shape);
    const double beside = known_bytes(planned.process);
    planned.all_host_bytes = std::max(need.peak(), need.train + beside);
    not_in_memory = why_not_in_memory(need.surely, available, MemoryOf::ratings);
    if (!not_in_memory) {
      const double there = std::max(known->program_bytes, known->standing_bytes) +
                           (known->kept ? whole_bytes(*known) : 0);
      not_in_memory = why_not_in_memory(need.train + beside - there, available);
    }
    plan_device(planned, item, place, shape, known->whole.nnz - shape.nnz, free);
  }
  planned.note = problem_of(item, planned, not_in_memory, shape, free);
  // What solves for all items at once takes no time in proportion to the ratings.
  if (!measure || !known || planned.note || info.by_history) return planned;
  const std::string key = item.algorithm + canonical(item.params.to_json());
  if (probes.count(key) == 0) probes[key] = probe(item);
  const Probe& probed = probes[key];
  planned.note = probed.why_skipped;
  if (!probed.rate) return planned;
  planned.train_s =
      updates_of_epoch(info, shape) * static_cast<double>(item.stop.epochs) / *probed.rate;
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

Plan make_plan(const Spec& spec, const PlanOptions& options) {
  Plan plan;
  program_bytes();  // before there is a device, or a probe
  const std::optional<double> free = free_on_device(options);
  plan.available = memory_limit().available;
  std::map<std::string, Probe> probes;
  double left =
      resident_bytes();  // what stands in this process: a context, once a device was found
  const auto unreadable = read_small_files(spec);
  std::vector<const Case*> all;
  for (const Case& item : spec.cases) all.push_back(&item);
  const auto places = options.share ? places_of(all) : std::vector<Place>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    plan.cases.push_back(plan_case(case_to_plan(spec, *all[i]), places[i], options.measure,
                                   plan.available, free, left, probes));
    PlannedCase& planned = plan.cases.back();
    const auto problem = unreadable.find(all[i]->data.label());
    if (problem != unreadable.end()) planned.note = problem->second;
    plan.peak_host_bytes = std::max(plan.peak_host_bytes, planned.all_host_bytes.value_or(0));
    plan.peak_device_bytes = std::max(plan.peak_device_bytes, planned.device_bytes.value_or(0));
    if (planned.train_s) {
      plan.total_train_s += *planned.train_s;
    } else {
      ++plan.not_estimated;
    }
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
                        item.all_host_bytes ? format_bytes(*item.all_host_bytes) : "?",
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
  const bool unread = std::any_of(plan.cases.begin(), plan.cases.end(), [](const auto& item) {
    return !item.all_host_bytes && !item.note;
  });
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
                     {"all_host_bytes", or_null(item.all_host_bytes)},
                     {"device_bytes", item.device_bytes.value_or(0)},
                     {"least_device_bytes", item.least_device_bytes.value_or(0)},
                     {"shared_device_bytes", or_null(item.shared_device_bytes)},
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
