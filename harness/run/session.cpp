#include "harness/run/session.hpp"

#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/files/claim.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "datasets/load.hpp"
#include "harness/device/environment.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/results/files/stored_results.hpp"
#include "harness/run/case_turns.hpp"
#include "harness/run/one_case.hpp"
#include "harness/run/tuning/tuning.hpp"

namespace mf {
namespace {

std::string spec_file_text(const Spec& spec) {
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
  return json_text(json, 2) + "\n";
}

// Empty without one, or if it is to be replaced.
std::optional<std::string> standing_text(const std::string& path) {
  try {
    return read_text(path, Origin::found);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Whole or not at all, and by one process at a time: a killed run must not leave half a spec.
void write_spec_file(const Spec& spec, const RunContext& context) {
  const std::string path = context.claims.path() + "/spec.json";
  const std::string text = spec_file_text(spec);
  const auto attempt = [&](HeldWork& work) {
    work = {0, "spec.json", patience_of(context.options)};
    if (standing_text(path) == text) return Turn::over;
    const auto claim = take_claim(work.key, context);
    if (!claim) return Turn::held;
    write_atomically(path, text, Origin::found);
    return Turn::over;
  };
  const auto await = [&](const std::vector<HeldWork>& held) {
    return await_claims(context.claims, held, Rest::wait, context.options.interrupted);
  };
  take_turns({0}, attempt, await);
}

bool is_profiled(const ResultFile& file) { return !value_at(file.header, {"profile"}).is_null(); }

// A file of a later program is not damaged and must not be set aside. Times under a profiler and
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

// Before hours of training, not after.
void probe_model_folder(RunOptions& options) {
  if (!options.model_folder || options.profile) return;
  make_folder(*options.model_folder);
  options.model_folder = without_links(*options.model_folder);
  const AtomicFolder probe(*options.model_folder + "/.mfbench-probe-" + process_name());
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

// Cases that are not known yet cannot be profiled.
void refuse_to_profile_trials(const Spec& spec, bool profile) {
  if (!profile || spec.studies.empty()) return;
  fail(ErrorKind::usage,
       "{}: --profile takes no \"tune\"; write the parameters that `mfbench tune` chose into the "
       "entry",
       spec.studies.front().path);
}

// Only the first process has trials.
RunOptions options_of_trials(RunOptions options) {
  if (options.only && *options.only != RunOptions::kTrials) options.rerun = options.retry = false;
  return options;
}

void make_usable(const std::string& folder) {
  try {
    make_folder(folder);
  } catch (const Error& error) {
    fail(ErrorKind::io, "{}; choose another folder with --out", error.what());
  }
}

}  // namespace

std::string default_folder(const Spec& spec, bool profile) {
  return "results/runs/" + spec.name + (profile ? "-profile" : "");
}

std::string folder_of(const Spec& spec, const RunOptions& options) {
  return options.folder.value_or(default_folder(spec, options.profile.has_value()));
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

SessionSummary run_session(const Spec& given, const RunOptions& asked, Progress& progress) {
  if (const std::string missing = missing_data(given); !missing.empty()) {
    throw Error(ErrorKind::data, missing);
  }
  const bool profile = asked.profile.has_value();
  refuse_to_profile_trials(given, profile);
  RunOptions options = asked;
  SessionSummary summary;
  summary.folder = folder_of(given, asked);
  make_usable(summary.folder);
  summary.folder = without_links(summary.folder);
  summary.held_folder = std::make_shared<const HeldFolder>(summary.folder);
  const ClaimFolder claims(summary.folder, given.hash);
  for (const auto& other : claims.holders()) meet(claims, other, summary.neighbour);
  if (options.began_ns == 0) options.began_ns = claims.now_ns();
  probe_model_folder(options);
  warn_of_unsaved(given, options);
  DataStore store;
  const RunContext context{options, claims, summary.neighbour, store, progress};
  const RunOptions of_trials = options_of_trials(options);
  TunedSpec tuned = run_studies(given, {of_trials, claims, summary.neighbour, store, progress});
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
  write_spec_file(summary.spec, context);
  run_cases(summary, context);
  return summary;
}

}  // namespace mf
