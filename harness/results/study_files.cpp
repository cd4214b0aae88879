#include "harness/results/study_files.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/json_values.hpp"
#include "harness/results/answer.hpp"
#include "harness/spec/study.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrials = "tune";

std::set<fs::path> folders_of_studies(const fs::path& root) {
  std::set<fs::path> folders;
  if (!fs::is_directory(root)) return folders;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (fs::exists(entry.path() / kStudyFile)) folders.insert(entry.path());
  }
  return folders;
}

std::optional<double> score_in(const Json& footer, Metric metric) {
  if (metric == Metric::test_rmse) return number_at(footer, {"final_validation_rmse"});
  return number_at(footer, {"metrics", kMetricNames.of(metric).c_str(), "final"});
}

// The trial of a header among those of the plan, by its values: numbers change with the trials that
// are asked for.
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

TrialOutcomes read_outcomes(const StudyPlan& plan, const std::string& folder) {
  TrialOutcomes outcomes;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".jsonl") continue;
    const auto file = read_result_file(entry.path().string());
    if (!file || text_at(file->header, {"trial", "study"}) != plan.name) continue;
    const auto place = place_of(plan, file->header);
    const auto outcome = outcome_of(*file, plan.metric);
    if (place && outcome) outcomes[*place] = *outcome;
  }
  return outcomes;
}

}  // namespace

std::string study_folder(const std::string& results, const StudyPlan& plan) {
  return results + "/" + kTrials + "/" + plan.name;
}

std::optional<TrialOutcome> outcome_of(const ResultFile& file, Metric metric) {
  const auto status = file.status();
  if (!status || *status == Status::interrupted) return std::nullopt;
  TrialOutcome outcome;
  outcome.status = *status;
  outcome.reason = text_at(file.footer, {"stop_reason"}).value_or("");
  outcome.seconds = to_training_s(file.footer).value_or(0) +
                    number_at(file.footer, {"clocks", "train_s"}).value_or(0);
  if (*status == Status::completed) outcome.score = score_in(file.footer, metric);
  return outcome;
}

TrialLookup lookup_in(const TrialOutcomes& outcomes) {
  return [&outcomes](const TrialPlace& place) -> std::optional<TrialOutcome> {
    const auto found = outcomes.find(place);
    if (found == outcomes.end()) return std::nullopt;
    return found->second;
  };
}

bool holds_studies(const std::string& folder) {
  return fs::path(folder).filename() == kTrials && !folders_of_studies(folder).empty();
}

std::vector<FoundStudy> read_studies(const std::string& results) {
  const fs::path root = fs::path(results) / kTrials;
  const std::set<fs::path> folders = folders_of_studies(root);
  if (folders.empty()) {
    fail(ErrorKind::usage,
         "{}: found no study in {}; expected the folder of a run whose spec has \"tune\"", results,
         root.string());
  }
  std::vector<FoundStudy> studies;
  for (const auto& folder : folders) {
    const std::string path = (folder / kStudyFile).string();
    FoundStudy found{read_study_plan(read_json_file(path), path), {}};
    const TrialOutcomes outcomes = read_outcomes(found.plan, folder.string());
    found.state = state_of(found.plan, lookup_in(outcomes));
    studies.push_back(std::move(found));
  }
  return studies;
}

}  // namespace mf
