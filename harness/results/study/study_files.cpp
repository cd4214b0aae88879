#include "harness/results/study/study_files.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/files/held_folder.hpp"
#include "base/files/open_file.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "harness/experiment/study.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/files/stored_results.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrials = "tune";

// Folders, and packed files.
std::set<fs::path> studies_in(const fs::path& root) {
  std::set<fs::path> found;
  if (!is_folder(root.string())) return found;
  for (const auto& entry : fs::directory_iterator(root)) {
    const fs::path& path = entry.path();
    if (is_packed_name(path.string()) || is_taken((path / kStudyFile).string())) found.insert(path);
  }
  return found;
}

// The trial of a header among those of the plan, by its values: numbers change with the requested
// trials.
std::optional<TrialPlace> place_of(const StudyPlan& plan, const Json& header) {
  const Json& values = value_at(header, {"trial", "values"});
  const auto point = std::find(plan.points.begin(), plan.points.end(), values);
  const auto epochs = integer_at(header, {"trial", "epochs"});
  if (point == plan.points.end() || !epochs) return std::nullopt;
  const auto rung = std::find(plan.rungs.begin(), plan.rungs.end(), *epochs);
  if (rung == plan.rungs.end()) return std::nullopt;
  return TrialPlace{static_cast<std::size_t>(point - plan.points.begin()),
                    static_cast<std::size_t>(rung - plan.rungs.begin())};
}

void take_outcome(const StudyPlan& plan, const ResultFile& file, TrialOutcomes& outcomes) {
  if (text_at(file.header, {"trial", "study"}) != plan.name) return;
  const auto place = place_of(plan, file.header);
  const auto outcome = outcome_of(file, plan.metric);
  if (place && outcome) outcomes[*place] = *outcome;
}

FoundStudy read_study(const std::string& place) {
  std::optional<StudyPlan> plan;
  const auto read_plan = [&](const StoredSpec& beside) {
    const std::string path = is_packed_name(place) ? place : place + "/" + kStudyFile;
    if (!plan) plan = read_study_plan(beside.study, path);
  };
  TrialOutcomes outcomes;
  read_plan(visit_stored_results(place, [&](const StoredCase& one, const StoredSpec& beside) {
    read_plan(beside);
    take_outcome(*plan, one.file, outcomes);
  }));
  StudyState state = state_of(*plan, outcomes);
  return {std::move(*plan), std::move(state)};
}

}  // namespace

std::string study_place(const StudyPlan& plan) { return std::string(kTrials) + "/" + plan.name; }

std::string study_folder(const std::string& results, const StudyPlan& plan) {
  return results + "/" + study_place(plan);
}

std::optional<TrialOutcome> outcome_of(const ResultFile& file, Metric metric) {
  const auto status = file.status();
  if (!status || *status == Status::interrupted) return std::nullopt;
  TrialOutcome outcome;
  outcome.status = *status;
  outcome.reason = text_at(file.footer, {"stop_reason"}).value_or("");
  const auto clock = [&](const char* key) {
    return number_at(file.footer, {"clocks", key}).value_or(0);
  };
  outcome.seconds = to_training_s(file.footer).value_or(0) + clock("train_s");
  outcome.wall_s = clock("wall_s") - clock("load_s") - clock("start_s");
  if (*status == Status::completed) outcome.score = final_of(file.footer, metric);
  return outcome;
}

bool holds_studies(const std::string& folder) {
  return fs::path(folder).filename() == kTrials && !studies_in(folder).empty();
}

std::vector<FoundStudy> read_studies(const std::string& results) {
  const HeldFolder held(results);
  const fs::path root = fs::path(results) / kTrials;
  const std::set<fs::path> places = studies_in(root);
  if (places.empty()) {
    fail(ErrorKind::usage,
         "{}: found no study in {}; expected the folder of a run whose spec has \"tune\"", results,
         root.string());
  }
  std::vector<FoundStudy> studies;
  for (const auto& place : places) {
    try {
      studies.push_back(read_study(place.string()));
    } catch (const Error& error) {
      if (places.size() == 1) throw;
      warn("{}; the study is left out", error.what());
    }
  }
  if (studies.empty()) fail(ErrorKind::data, "{}: no study in it can be read", root.string());
  return studies;
}

}  // namespace mf
