#include "harness/run/session.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/peer/places.hpp"
#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/hash.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "datasets/load.hpp"
#include "harness/device/environment.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/results/files/standing_names.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/one_case.hpp"
#include "harness/run/tuning/tuning.hpp"

namespace mf {
namespace {

// Written whole or not at all: a killed run must not leave half a spec.
void write_spec_file(const Spec& spec, const std::string& folder) {
  Json ids = Json::array();
  for (const auto& item : spec.cases) ids.push_back(item.id);
  Json json = {{"schema_version", kSchemaVersion},
               {"spec_name", spec.name},
               {"spec_hash", spec.hash},
               {"description", spec.description},
               {"baseline", spec.baseline.empty() ? Json() : Json(spec.baseline)},
               {"target_rmse", or_null(spec.target_rmse)},
               {"cases", ids},
               {"spec", spec.source}};
  for (const auto& study : spec.studies) json["studies"].push_back(study.name);
  write_atomically(folder + "/spec.json", json_text(json, 2) + "\n");
}

bool is_profiled(const ResultFile& file) { return !value_at(file.header, {"profile"}).is_null(); }

// A file of a later program is no damaged one, which would be set aside. Times under a profiler and
// measured ones must not stand in one folder.
void refuse_to_mix(const Spec& spec, const std::string& folder, bool profile) {
  for (const auto& item : spec.cases) {
    const std::string path = folder + "/" + item.id + ".jsonl";
    const auto file = read_result_file(path);
    if (!file || !file->header.is_object()) continue;
    if (const auto why = why_unknown_version(file->header)) {
      fail(ErrorKind::usage,
           "{}: line 1: {}; run the program that made it, or choose another folder with --out",
           path, *why);
    }
    if (is_profiled(*file) == profile) continue;
    fail(ErrorKind::usage, "{}: is the result of a {} run; choose another folder with --out", path,
         profile ? "measured" : "profiled");
  }
}

std::optional<std::string> model_folder(const Spec& spec, const RunOptions& options,
                                        const std::string& folder, const Case& item) {
  if (options.profile || !has_model(item)) return std::nullopt;
  if (options.model_folder) return *options.model_folder + "/" + item.id;
  if (!spec.save_model) return std::nullopt;
  return folder + "/models/" + item.id;
}

// Before hours of training, not after.
void probe_model_folder(const RunOptions& options) {
  if (!options.model_folder || options.profile) return;
  make_folder(*options.model_folder);
  const AtomicFolder probe(*options.model_folder + "/.mfbench-probe");
}

void warn_of_unsaved(const Spec& spec, const RunOptions& options) {
  if (options.profile || !(options.model_folder || spec.save_model)) return;
  std::set<std::string> names;
  for (const Case& item : spec.cases) {
    if (!has_model(item)) names.insert(item.algorithm);
  }
  for (const auto& name : names) {
    warn("{} has no one P and Q: no model of it is saved, nor can `mfbench recommend` use one",
         name);
  }
}

// What is not known yet cannot be profiled.
void refuse_to_profile_trials(const Spec& spec, bool profile) {
  if (!profile || spec.studies.empty()) return;
  fail(ErrorKind::usage,
       "{}: --profile takes no \"tune\"; write the parameters that `mfbench tune` chose into the "
       "entry",
       spec.studies.front().path);
}

bool is_of_another_process(const RunOptions& options, std::size_t number) {
  return options.only && *options.only >= 0 && std::cmp_not_equal(*options.only, number);
}

// Trials are those of the first process alone.
RunOptions options_of_trials(RunOptions options) {
  if (options.only && *options.only != RunOptions::kTrials) options.rerun = options.retry = false;
  return options;
}

// A case's hash does not have the content of the user's files. Where the cache does not tell it,
// their times have to do.
class LaterFiles {
 public:
  explicit LaterFiles(std::string began) : began_(std::move(began)) {}

  // Once for each data set.
  void warn_of(const Case& item, const ResultFile& standing) {
    const auto [known, is_new] = known_.try_emplace(item.data.label());
    Files& files = known->second;
    if (is_new) files = {known_content(item.data), written_at(item.data), false};
    if (files.told) return;
    const auto started = text_at(standing.header, {"environment", "started_at"});
    if (!began_.empty() && started >= began_) return;
    const auto content = text_at(standing.header, {"dataset", "content_hash"});
    if (files.content && content) {
      if (*content == hash64_text(*files.content)) return;
      warn(
          "{}: its ratings are not those of the results that stand here; --rerun measures all "
          "again",
          known->first);
      files.told = true;
    } else if (files.written && started && utc_text(*files.written) > *started) {
      warn(
          "{}: written at {}, after results that stand here; if its ratings are others now, "
          "--rerun measures all again",
          known->first, utc_text(*files.written));
      files.told = true;
    }
  }

 private:
  struct Files {
    std::optional<std::uint64_t> content;
    std::optional<std::int64_t> written;
    bool told = false;
  };

  std::string began_;
  std::map<std::string, Files> known_;  // by data set
};

void note_failure(SessionSummary& summary, const FailedCase& one) {
  if (!is_failure(one.status)) return;
  ++summary.failed;
  summary.failures.push_back(one);
}

// Those that a run will have to do, as far as can be said without reading what stands there; of a
// run --apart, from the case of this process on.
std::vector<const Case*> cases_to_come(const SessionSummary& summary, const RunOptions& options) {
  std::vector<const Case*> to_come;
  const auto first =
      std::clamp<std::int64_t>(options.only.value_or(0), 0, std::ssize(summary.spec.cases));
  for (const Case& item : std::span(summary.spec.cases).subspan(static_cast<std::size_t>(first))) {
    const bool stands = std::filesystem::exists(summary.folder + "/" + item.id + ".jsonl");
    if (!stands || options.rerun || options.profile) to_come.push_back(&item);
  }
  return to_come;
}

void run_cases(SessionSummary& summary, const RunContext& context) {
  const RunOptions& options = context.options;
  const Spec& spec = summary.spec;
  std::vector<const Case*> later;
  LaterFiles later_files(options.began);
  context.progress.begin_run(cases_to_come(summary, options), options.before);
  for (const Case& item : spec.cases) later.push_back(&item);
  for (std::size_t i = 0; i < spec.cases.size() && !summary.interrupted; ++i) {
    const Case& item = spec.cases[i];
    if (is_of_another_process(options, i)) continue;
    const std::string path = summary.folder + "/" + item.id + ".jsonl";
    if (const auto standing = standing_result(path, item, options)) {
      ++summary.finished_before;
      const auto reason = text_at(standing->footer, {"stop_reason"});
      note_failure(summary, {item.id, *standing->status(), reason.value_or("")});
      // Of a process for one case, the one that started it says so.
      if (!options.only || *options.only == RunOptions::kNoCase)
        later_files.warn_of(item, *standing);
      continue;
    }
    if (options.only == RunOptions::kNoCase) continue;
    if (options.interrupted && options.interrupted() > 0) {
      summary.interrupted = true;
      break;
    }
    const auto after = std::span(later).subspan(options.only ? later.size() : i + 1);
    const CaseResult result = run_one(
        {spec, item, path, model_folder(spec, options, summary.folder, item),
         options.share && is_cut_again(item, after), options.share && is_trained_again(item, after),
         options.share && is_handed_over_again(item, after)},
        i + 1, spec.cases.size(), context);
    ++summary.run;
    note_failure(summary, {item.id, result.status, result.reason});
    summary.bad_data += result.bad_data ? 1 : 0;
    summary.interrupted = result.status == Status::interrupted;
  }
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
    if (!why.empty()) text += (text.empty() ? "" : "\n") + item.data_path + ": " + why;
  }
  return text;
}

SessionSummary run_session(const Spec& given, const RunOptions& options, Progress& progress) {
  if (const std::string missing = missing_data(given); !missing.empty()) {
    throw Error(ErrorKind::data, missing);
  }
  const bool profile = options.profile.has_value();
  refuse_to_profile_trials(given, profile);
  SessionSummary summary;
  summary.folder = options.folder.value_or(default_folder(given, profile));
  const FolderLock lock(summary.folder);
  probe_model_folder(options);
  warn_of_unsaved(given, options);
  const PlacementScope placed(options.placement);
  peer::remove_left_over_folders();
  DataStore store;
  const RunContext context{options, store, progress};
  const RunOptions of_trials = options_of_trials(options);
  TunedSpec tuned = run_studies(given, summary.folder, {of_trials, store, progress});
  summary.trials_run = tuned.run;
  summary.trials_finished_before = tuned.finished_before;
  summary.studies = std::move(tuned.studies);
  summary.studies_not_run = std::move(tuned.not_run);
  summary.interrupted = tuned.interrupted;
  if (tuned.interrupted || options.trials_only || options.only == RunOptions::kTrials) {
    return summary;
  }
  summary.spec = named_as_in(summary.folder, std::move(tuned.spec));
  refuse_to_mix(summary.spec, summary.folder, profile);
  write_spec_file(summary.spec, summary.folder);
  run_cases(summary, context);
  return summary;
}

}  // namespace mf
