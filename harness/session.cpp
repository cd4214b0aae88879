#include "harness/session.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "datasets/load.hpp"
#include "harness/result_file.hpp"
#include "harness/stats.hpp"

namespace mf {
namespace {

// Written whole or not at all: a killed run must not leave half a spec.
void write_spec_file(const Spec& spec, const std::string& folder) {
  Json ids = Json::array();
  for (const auto& item : spec.cases) ids.push_back(item.id);
  const Json json = {{"schema_version", kSchemaVersion},
                     {"spec_name", spec.name},
                     {"spec_hash", spec.hash},
                     {"description", spec.description},
                     {"baseline", spec.baseline.empty() ? Json() : Json(spec.baseline)},
                     {"target_rmse", spec.target_rmse ? Json(*spec.target_rmse) : Json()},
                     {"cases", ids},
                     {"spec", spec.source}};
  write_atomically(folder + "/spec.json", json.dump(2) + "\n");
}

bool is_failure(const std::string& status) {
  return status == "error" || status == "oom" || status == "timeout";
}

bool is_profiled(const ResultFile& file) {
  return file.header.contains("profile") && !file.header["profile"].is_null();
}

// Times under a profiler and measured ones must not stand in one folder.
void refuse_to_mix(const Spec& spec, const std::string& folder, bool profile) {
  for (const auto& item : spec.cases) {
    const std::string path = folder + "/" + item.id + ".jsonl";
    const auto file = read_result_file(path);
    if (!file || is_profiled(*file) == profile) continue;
    fail(ErrorKind::usage, "{}: is the result of a {} run; choose another folder with --out", path,
         profile ? "measured" : "profiled");
  }
}

// The status of a result that stands, or nothing where the case is to be run. `skipped` is asked
// again: the machine may have changed.
std::optional<std::string> standing_status(const std::string& path, const SessionOptions& options) {
  if (options.rerun || options.profile) return std::nullopt;
  const auto file = read_result_file(path);
  if (!file || !file->finished()) return std::nullopt;
  auto status = file->footer.value("status", "");
  if (status == "interrupted" || status == "skipped") return std::nullopt;
  if (options.retry && is_failure(status)) return std::nullopt;
  return status;
}

std::string model_folder(const Spec& spec, const SessionOptions& options, const std::string& folder,
                         const Case& item) {
  if (!options.model_folder.empty()) return options.model_folder + "/" + item.id;
  return spec.save_model ? folder + "/models/" + item.id : "";
}

CaseResult run_one(const Spec& spec, const Case& item, const SessionOptions& options,
                   const std::string& folder, DataStore& store, Progress& progress) {
  const std::string path = folder + "/" + item.id + ".jsonl";
  if (std::filesystem::exists(path)) set_aside(path);
  RunSettings settings;
  settings.spec_name = spec.name;
  settings.spec_hash = spec.hash;
  settings.baseline = spec.baseline;
  settings.target_rmse = spec.target_rmse;
  settings.command_line = options.command_line;
  settings.profile = options.profile;
  if (!options.profile) settings.model_folder = model_folder(spec, options, folder, item);
  RunHooks hooks;
  hooks.on_trace = [&](const TracePoint& point) { progress.trace(point); };
  hooks.interrupted = options.interrupted;
  hooks.open_device = options.open_device;
  ResultWriter writer(path);
  return run_case(item, store, settings, hooks, writer);
}

struct Row {
  std::vector<double> best, train, rate;
  std::map<std::string, int> status;
};

// "sgd_serial f=50 threads=2": the parameters that differ among the cases of this algorithm.
std::map<std::string, std::string> case_labels(const Spec& spec) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> values;
  const auto all_values = [](const Case& item) {
    Json json = item.params.to_json();
    json["learning_rate"] = item.schedule.learning_rate;
    json["schedule"] = item.schedule.to_json()["kind"];
    return json;
  };
  for (const auto& item : spec.cases) {
    const Json json = all_values(item);
    for (const auto& [key, value] : json.items()) values[item.algorithm][key].insert(value.dump());
  }
  std::map<std::string, std::string> labels;
  for (const auto& item : spec.cases) {
    std::string label = item.algorithm;
    const Json json = all_values(item);
    for (const auto& [key, value] : json.items()) {
      if (values[item.algorithm][key].size() > 1) {
        label +=
            fmt::format(" {}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
      }
    }
    labels[item.id] = label;
  }
  return labels;
}

void add_to(Row& row, const ResultFile& file) {
  ++row.status[file.finished() ? file.footer.value("status", "?") : "unfinished"];
  if (!file.finished()) return;
  const Json& best = file.footer["best_test_rmse"];
  if (best.is_number()) row.best.push_back(best.get<double>());
  const double train = file.footer["clocks"]["train_s"].get<double>();
  row.train.push_back(train);
  const auto updates = file.footer["updates"].get<double>();
  if (train > 0 && updates > 0) row.rate.push_back(updates / train);
}

}  // namespace

std::string default_folder(const Spec& spec, bool profile) {
  return "results/runs/" + spec.name + (profile ? "-profile" : "");
}

std::string missing_data(const Spec& spec) {
  std::set<std::string> seen;
  std::string text;
  for (const auto& item : spec.cases) {
    if (!seen.insert(item.data.label()).second) continue;
    const std::string why = why_unavailable(item.data);
    if (!why.empty()) text += (text.empty() ? "" : "\n") + why;
  }
  return text;
}

SessionSummary run_session(const Spec& spec, const SessionOptions& options, Progress& progress) {
  if (const std::string missing = missing_data(spec); !missing.empty()) {
    throw Error(ErrorKind::data, missing);
  }
  SessionSummary summary;
  summary.folder = options.folder;
  if (summary.folder.empty()) summary.folder = default_folder(spec, options.profile.has_value());
  const FolderLock lock(summary.folder);
  refuse_to_mix(spec, summary.folder, options.profile.has_value());
  write_spec_file(spec, summary.folder);
  DataStore store;
  for (std::size_t i = 0; i < spec.cases.size() && !summary.interrupted; ++i) {
    const Case& item = spec.cases[i];
    const auto standing = standing_status(summary.folder + "/" + item.id + ".jsonl", options);
    if (standing) {
      ++summary.finished_before;
      summary.failed += is_failure(*standing) ? 1 : 0;
      continue;
    }
    if (options.interrupted && options.interrupted() > 0) {
      summary.interrupted = true;
      break;
    }
    progress.begin_case(options.profile ? profiled(item, *options.profile) : item, i + 1,
                        spec.cases.size());
    const CaseResult result = run_one(spec, item, options, summary.folder, store, progress);
    progress.end_case(result);
    ++summary.run;
    summary.failed += is_failure(result.status) ? 1 : 0;
    summary.interrupted = result.status == "interrupted";
    if (result.device_failed) {
      fail(ErrorKind::device,
           "{}: the device failed: {}; this process cannot use it any more. The case stands as "
           "\"error\" (--retry runs it again); the same command goes on with the next case",
           item.id, result.reason);
    }
  }
  return summary;
}

std::string summary_table(const std::string& folder, const Spec& spec) {
  const auto labels = case_labels(spec);
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, Row> rows;
  for (const auto& item : spec.cases) {
    const auto file = read_result_file(folder + "/" + item.id + ".jsonl");
    if (!file) continue;
    const std::pair<std::string, std::string> key = {item.data.label(), labels.at(item.id)};
    if (rows.count(key) == 0) order.push_back(key);
    add_to(rows[key], *file);
  }
  std::size_t data_width = 8;
  std::size_t name_width = 9;
  for (const auto& [data, name] : order) {
    data_width = std::max(data_width, data.size());
    name_width = std::max(name_width, name.size());
  }
  const auto line = [&](const std::string& data, const std::string& name, const std::string& seeds,
                        const std::string& best, const std::string& band, const std::string& train,
                        const std::string& rate, const std::string& status) {
    return fmt::format("{:<{}}  {:<{}}  {:>5}  {:>9}  {:>16}  {:>10}  {:>9}  {}\n", data,
                       data_width, name, name_width, seeds, best, band, train, rate, status);
  };
  std::string text = line("data set", "algorithm", "seeds", "best rmse", "[min, max]", "train",
                          "updates/s", "status");
  for (const auto& key : order) {
    const Row& row = rows[key];
    std::string status;
    int seeds = 0;
    for (const auto& [name, count] : row.status) {
      status += fmt::format("{}{} {}", status.empty() ? "" : ", ", count, name);
      seeds += count;
    }
    const auto [low, high] = std::minmax_element(row.best.begin(), row.best.end());
    const bool any = !row.best.empty();
    text += line(key.first, key.second, std::to_string(seeds),
                 any ? fmt::format("{:.4f}", median(row.best)) : "-",
                 any ? fmt::format("[{:.4f}, {:.4f}]", *low, *high) : "-",
                 row.train.empty() ? "-" : format_seconds(median(row.train)),
                 row.rate.empty() ? "-" : format_count(median(row.rate)), status);
  }
  return text;
}

}  // namespace mf
