#include "harness/run/session.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <set>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/json_values.hpp"
#include "base/log.hpp"
#include "datasets/load.hpp"
#include "harness/results/result_file.hpp"
#include "harness/results/standing_names.hpp"
#include "harness/run/preflight.hpp"
#include "harness/run/runner.hpp"

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
                     {"target_rmse", or_null(spec.target_rmse)},
                     {"cases", ids},
                     {"spec", spec.source}};
  write_atomically(folder + "/spec.json", json_text(json, 2) + "\n");
}

bool is_profiled(const ResultFile& file) { return !value_at(file.header, {"profile"}).is_null(); }

// Times under a profiler and measured ones must not stand in one folder.
void refuse_to_mix(const Spec& spec, const std::string& folder, bool profile) {
  for (const auto& item : spec.cases) {
    const std::string path = folder + "/" + item.id + ".jsonl";
    const auto file = read_result_file(path);
    if (!file || !file->header.is_object() || is_profiled(*file) == profile) continue;
    fail(ErrorKind::usage, "{}: is the result of a {} run; choose another folder with --out", path,
         profile ? "measured" : "profiled");
  }
}

// A file under the name of a case whose header has another hash was edited, copied or renamed.
bool is_of(const ResultFile& file, const Case& item, const std::string& path) {
  const std::string hash = text_at(file.header, {"case_hash"}).value_or("");
  if (hash == item.hash) return true;
  warn(
      "{}: is finished, but not this case: its case_hash is {}, that of the case {}; the file "
      "is set aside and the case is run",
      path, hash.empty() ? "missing" : hash, item.hash);
  return false;
}

// The status of a result that stands, or nothing where the case is to be run. `skipped` is asked
// again: the machine may have changed.
std::optional<Status> standing_status(const std::string& path, const Case& item,
                                      const RunOptions& options) {
  if (options.rerun || options.profile) return std::nullopt;
  const auto file = read_result_file(path);
  if (!file) return std::nullopt;
  warn_of_damage(*file, "the case is run again");
  const auto status = file->status();
  if (!status || status == Status::interrupted || status == Status::skipped) return std::nullopt;
  if (options.retry && is_failure(*status)) return std::nullopt;
  return is_of(*file, item, path) ? status : std::nullopt;
}

std::optional<std::string> model_folder(const Spec& spec, const RunOptions& options,
                                        const std::string& folder, const Case& item) {
  if (options.profile) return std::nullopt;
  if (options.model_folder) return *options.model_folder + "/" + item.id;
  if (!spec.save_model) return std::nullopt;
  return folder + "/models/" + item.id;
}

// Whether one of the cases right after `index` that have its data set cuts it in another way.
bool is_cut_again(const Spec& spec, std::size_t index) {
  const Json& own = spec.cases[index].resolved;
  for (std::size_t i = index + 1; i < spec.cases.size(); ++i) {
    const Json& later = spec.cases[i].resolved;
    if (later.at("dataset") != own.at("dataset")) return false;
    if (later.at("split") != own.at("split")) return true;
  }
  return false;
}

// Whether one of the cases right after `index` that have its split trains on a device, too.
bool is_trained_again(const Spec& spec, std::size_t index) {
  const Case& own = spec.cases[index];
  if (!needs_device(own)) return false;
  for (std::size_t i = index + 1; i < spec.cases.size(); ++i) {
    const Case& later = spec.cases[i];
    if (later.resolved.at("dataset") != own.resolved.at("dataset") ||
        later.resolved.at("split") != own.resolved.at("split")) {
      return false;
    }
    if (needs_device(later)) return true;
  }
  return false;
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

SessionSummary run_session(const Spec& given, const RunOptions& options, Progress& progress) {
  if (const std::string missing = missing_data(given); !missing.empty()) {
    throw Error(ErrorKind::data, missing);
  }
  SessionSummary summary;
  const bool profile = options.profile.has_value();
  summary.folder = options.folder.value_or(default_folder(given, profile));
  const FolderLock lock(summary.folder);
  const Spec spec = named_as_in(summary.folder, given);
  refuse_to_mix(spec, summary.folder, profile);
  write_spec_file(spec, summary.folder);
  const PlacementScope placed(options.placement);
  DataStore store;
  for (std::size_t i = 0; i < spec.cases.size() && !summary.interrupted; ++i) {
    const Case& item = spec.cases[i];
    const std::string path = summary.folder + "/" + item.id + ".jsonl";
    if (const auto standing = standing_status(path, item, options)) {
      ++summary.finished_before;
      summary.failed += is_failure(*standing) ? 1 : 0;
      continue;
    }
    if (options.interrupted && options.interrupted() > 0) {
      summary.interrupted = true;
      break;
    }
    progress.begin_case(profile ? profiled(item, *options.profile) : item, i + 1,
                        spec.cases.size());
    if (std::filesystem::exists(path)) set_aside(path);
    if (!options.share) store.clear();
    const CaseResult result = run_case(
        {spec, item, path, model_folder(spec, options, summary.folder, item),
         options.share && is_cut_again(spec, i), options.share && is_trained_again(spec, i)},
        options, store, progress);
    progress.end_case(result);
    ++summary.run;
    summary.failed += is_failure(result.status) ? 1 : 0;
    summary.bad_data += result.bad_data ? 1 : 0;
    summary.interrupted = result.status == Status::interrupted;
    if (result.device_failed) {
      fail(ErrorKind::device,
           "{}: the device failed: {}; this process cannot use it any more. The case stands as "
           "\"error\" (--retry runs it again); the same command goes on with the next case",
           item.id, result.reason);
    }
  }
  return summary;
}

}  // namespace mf
