#include "harness/run/plan/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/registry.hpp"
#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/host/memory_limit.hpp"
#include "base/json/json_values.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "datasets/load.hpp"
#include "datasets/ratings/rating_facts.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "harness/device/device.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/meaning/text_table.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/run/prepared.hpp"

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

// How fast a case trains here, by a short run on a small look-alike (about 0.1 s): a rough guide,
// since large factors fall out of the caches.
struct Probe {
  std::optional<double> rate;              // ratings a second
  std::optional<std::string> why_skipped;  // the status that its case would end with
};

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
double rate_of(Case item) {
  item.init.model.clear();  // which is of other users
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

// A library may find out only when it starts that it cannot run here. One that is too slow for its
// timeout, or diverges on the data of the probe, may do neither on the data of its case.
Probe probe(const Case& item) {
  try {
    return {rate_of(item), {}};
  } catch (const CaseOver& over) {
    if (over.why() != CaseOver::Why::skipped) return {};
    return {{}, over.what()};
  }
}

// `free`: bytes of the device.
Json plan_case(const Case& item, const DoneAgain& again, bool measure,
               const std::optional<double>& free, std::map<std::string, Probe>& probes) {
  std::optional<double> host, all_host, train_s;
  std::optional<ProcessNeed> process;
  double device = 0;
  auto sizes = expected_sizes(item);
  if (sizes) {
    sizes->kept = again.cut;
    host = host_bytes(item, *sizes);
    process = process_need(item, sizes->train);
    all_host = *host + (process ? process->bytes.value_or(0) : 0);
    device = device_bytes(item, *sizes, free);
    if (again.trained && free && leaves_room_for_ratings(item, *sizes, *free))
      device += device_ratings_bytes(sizes->train);
  }
  std::optional<std::string> note = why_no_implementation(item);
  if (const auto missing = why_unavailable(item.data); !missing.empty()) note = missing;
  if (sizes && !note) {
    if (const auto refusal = refuse_surely(item, *sizes, *all_host / kPlanFactor, free))
      note = refusal->reason;
  }
  const AlgorithmInfo& info = find_algorithm(item.algorithm);
  // If all items are solved at once, the time is not proportional to the ratings.
  if (measure && sizes && !note && !info.by_history) {
    const std::string key = item.algorithm + canonical(item.params.to_json());
    if (!probes.contains(key)) probes[key] = probe(item);
    const Probe& probed = probes[key];
    note = probed.why_skipped;
    const double updates =
        updates_of_epoch(info, sizes->train) * static_cast<double>(item.stop.epochs);
    if (probed.rate) train_s = updates / *probed.rate;
  }
  return {{"case_id", item.id},
          {"metric", main_metric(item).key()},
          {"host_bytes", or_null(host)},
          {"process_bytes", process ? or_null(process->bytes) : Json()},
          {"process_unknown", process ? process->unknown : ""},
          {"all_host_bytes", or_null(all_host)},
          {"device_bytes", device},
          {"train_s", or_null(train_s)},
          {"note", note.value_or("")}};
}

// The case itself, or the trial with the most factors in its study.
Case case_to_plan(const Spec& spec, const Case& item) {
  if (!item.study) return item;
  const Study& study = spec.studies[*item.study];
  const auto factors = [](const Json& point) { return number_at(point, {"factors"}).value_or(0); };
  Case planned = study.make(*std::ranges::max_element(study.points, {}, factors), item.seed);
  planned.id = item.id;
  return planned;
}

// As if its first case trained for the epochs of all its trials.
Json plan_study(const Spec& spec, std::size_t number, const Json& cases) {
  const Study& study = spec.studies[number];
  std::int64_t epochs = 0;
  std::int64_t trials = std::ssize(study.points);
  for (const std::int64_t rung : study.rungs) {
    epochs += trials * rung;
    trials = survivors(trials, study.tune.eta);
  }
  std::optional<double> train_s;
  for (std::size_t i = 0; i < cases.size() && !train_s; ++i) {
    if (spec.cases[i].study != number || cases[i]["train_s"].is_null()) continue;
    const double rate =
        cases[i]["train_s"].get<double>() / static_cast<double>(spec.cases[i].stop.epochs);
    train_s = std::min(rate * static_cast<double>(epochs), study.tune.budget_s.value_or(kNever));
  }
  return {{"label", study.label},
          {"trials", std::ssize(study.points)},
          {"runs", study.runs()},
          {"epochs", epochs},
          {"train_s", or_null(train_s)}};
}

std::string bytes_text(const Json& bytes, const char* unknown) {
  return bytes.is_null() || bytes == 0 ? unknown : format_bytes(bytes.get<double>());
}

// "its process: 1.2 GiB; not counted: the heap of Java  "
std::string process_text(const Json& planned) {
  const auto bytes = number_at(planned, {"process_bytes"});
  const auto unknown = planned["process_unknown"].get<std::string>();
  if (!bytes && unknown.empty()) return "";
  std::string text = "its process: " + (bytes ? format_bytes(*bytes) : "unknown");
  if (!unknown.empty()) text += (bytes ? "; not counted: " : ": ") + unknown;
  return text + "  ";
}

}  // namespace

Json make_plan(const Spec& spec, const PlanOptions& options) {
  std::optional<double> free = options.device_free_bytes;
  if (!free) {
    if (const auto device = find_device()) free = static_cast<double>(device->free_bytes);
  }
  const MemoryBound available = memory_limit().available;
  std::map<std::string, Probe> probes;
  const auto unreadable = read_small_files(spec);
  std::vector<const Case*> all;
  for (const Case& item : spec.cases) all.push_back(&item);
  const auto again = options.share ? done_again(all) : std::vector<DoneAgain>(all.size());
  Json cases = Json::array(), studies = Json::array();
  double train_s = 0, host_bytes = 0, device_bytes = 0;
  std::int64_t not_estimated = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    DoneAgain here = again[i];
    // Or an earlier case has left its ratings there.
    here.trained |= i > 0 && again[i - 1].trained && trains_on_one_device(*all[i]);
    Json planned = plan_case(case_to_plan(spec, *all[i]), here, options.measure, free, probes);
    const auto problem = unreadable.find(all[i]->data.label());
    if (problem != unreadable.end()) planned["note"] = problem->second;
    host_bytes = std::max(host_bytes, number_at(planned, {"all_host_bytes"}).value_or(0));
    device_bytes = std::max(device_bytes, planned["device_bytes"].get<double>());
    train_s += number_at(planned, {"train_s"}).value_or(0);
    not_estimated += planned["train_s"].is_null() ? 1 : 0;
    cases.push_back(std::move(planned));
  }
  for (std::size_t i = 0; i < spec.studies.size(); ++i) {
    studies.push_back(plan_study(spec, i, cases));
    train_s += number_at(studies.back(), {"train_s"}).value_or(0);
  }
  return {{"cases", cases},
          {"studies", studies},
          {"train_s", train_s},
          {"not_estimated", not_estimated},
          {"peak_host_bytes", host_bytes},
          {"available_host_bytes", available.bytes},
          {"available_host_bytes_by", available.by},
          {"peak_device_bytes", device_bytes}};
}

std::string format_plan(const Json& plan, const Spec& spec) {
  // Cases of a configuration on a data set that can be run here, or cannot for one reason: of the
  // one with the most memory, and the time of all.
  struct Row {
    Json largest;
    std::int64_t cases = 0;
    double train_s = 0;
  };
  std::map<std::array<std::string, 2>, Row> rows;
  std::vector<std::array<std::string, 2>> order;
  const auto time = [](const Json& planned) { return number_at(planned, {"train_s"}); };
  const auto bytes = [](const Json& planned) { return number_at(planned, {"all_host_bytes"}); };
  bool unread = false;
  for (std::size_t i = 0; i < spec.cases.size(); ++i) {
    const Json& planned = plan["cases"][i];
    const auto note = planned["note"].get<std::string>();
    unread |= planned["host_bytes"].is_null() && note.empty();
    const auto& key =
        order.emplace_back(std::array{spec.cases[i].name + " on " + spec.cases[i].data_name, note});
    Row& row = rows[key];
    if (row.cases++ > 0) order.pop_back();
    if (row.largest.is_null() || bytes(planned) > bytes(row.largest)) row.largest = planned;
    row.train_s += time(planned).value_or(0);
  }
  std::vector<Cells> lines;
  for (const auto& key : order) {
    const auto& [largest, cases, train_s] = rows[key];
    lines.push_back(
        {key[0], std::to_string(cases), bytes_text(largest["all_host_bytes"], "?"),
         bytes_text(largest["device_bytes"], "-"),
         time(largest) ? "~" + format_seconds(train_s) : "?",
         process_text(largest) + (key[1].empty() ? "" : "NOT RUNNABLE HERE: " + key[1])});
  }
  std::string text =
      table_text({{"", true}, {"cases"}, {"memory"}, {"device"}, {"training"}, {"", true}},
                 std::move(lines), kAnyWidth);
  for (const Json& study : plan["studies"]) {
    const auto count = [&](const char* key, const char* what) {
      return counted(study[key].get<std::int64_t>(), what);
    };
    text += fmt::format("tuned: {}: {}, up to {}, {}{}\n", study["label"].get<std::string>(),
                        count("trials", "trial"), count("runs", "run"), count("epochs", "epoch"),
                        time(study) ? ", training ~" + format_seconds(*time(study)) : "");
  }
  const auto count = std::ssize(spec.cases);
  const auto by = plan["available_host_bytes_by"].get<std::string>();
  text += fmt::format("{}: {}; peak host memory {} of {}{}; ", spec.name, counted(count, "case"),
                      bytes_text(plan["peak_host_bytes"], "unknown"),
                      format_bytes(plan["available_host_bytes"].get<double>()),
                      by.empty() ? "" : " available (" + by + ")");
  if (plan["peak_device_bytes"] != 0)
    text += "peak device memory " + bytes_text(plan["peak_device_bytes"], "") + "; ";
  const auto not_estimated = plan["not_estimated"].get<std::int64_t>();
  text += not_estimated == count ? "no time estimated"
                                 : "training about " + format_seconds(*time(plan)) +
                                       "; evaluation and loading come on top";
  if (not_estimated > 0) text += fmt::format(" ({} not estimated)", counted(not_estimated, "case"));
  text += "\n";
  if (!unread) return text;
  return text + fmt::format(
                    "?: a plan reads no files of more than {}; once a run has read them, "
                    "it knows their size\n",
                    format_bytes(kSmallFiles));
}

}  // namespace mf
