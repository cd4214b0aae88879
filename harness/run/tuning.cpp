#include "harness/run/tuning.hpp"

#include <utility>

#include "base/atomic_file.hpp"
#include "base/files.hpp"
#include "harness/results/study_report.hpp"
#include "harness/run/preflight.hpp"
#include "harness/run/shared_cases.hpp"
#include "harness/spec/study.hpp"

namespace mf {
namespace {

// Its id has the study's folder before it.
std::string trial_file(const Case& trial) {
  return trial.id.substr(trial.id.rfind('/') + 1) + ".jsonl";
}

class StudyRun {
 public:
  StudyRun(const Spec& spec, std::size_t number, const std::string& folder,
           const RunContext& context, TunedSpec& tuned)
      : spec_(spec),
        study_(spec.studies[number]),
        results_(folder),
        context_(context),
        tuned_(tuned) {
    for (std::size_t i = number + 1; i < spec.studies.size(); ++i) {
      later_.push_back(&spec.studies[i].base);
    }
    for (const Case& item : spec.cases) later_.push_back(&item);
  }

  // Until the study is over or the run is interrupted.
  StudyState run() {
    const std::string folder = study_folder(results_, study_);
    make_folder(folder);
    write_atomically(folder + "/" + kStudyFile, json_text(to_json(plan()), 2) + "\n");
    while (true) {
      StudyState state = state_of(study_, lookup_in(outcomes_));
      if (!state.next || !settle(*state.next, state.runs)) return state;
    }
  }

  const StudyPlan& plan() const { return study_; }

 private:
  // Finds or makes the outcome of a trial; false: interrupted.
  bool settle(const TrialPlace& place, std::int64_t before) {
    const Case item = trial_case(study_, place.trial, place.rung);
    const std::string path = study_folder(results_, study_) + "/" + trial_file(item);
    if (const auto file = standing_result(path, item, context_.options)) {
      outcomes_[place] = *outcome_of(*file, study_.metric);
      ++tuned_.finished_before;
      return true;
    }
    const auto& interrupted = context_.options.interrupted;
    tuned_.interrupted = interrupted && interrupted() > 0;
    if (tuned_.interrupted) return false;
    const bool share = context_.options.share;
    run_one({spec_, item, path, std::nullopt, share && is_cut_again(item, later_),
             share && needs_device(item),
             share && (has_own_process(item) || is_handed_over_again(item, later_))},
            static_cast<std::size_t>(before) + 1, static_cast<std::size_t>(study_.runs()),
            context_);
    ++tuned_.run;
    // By the file, as any later look at it.
    const auto file = read_result_file(path);
    const auto outcome = file ? outcome_of(*file, study_.metric) : std::nullopt;
    tuned_.interrupted = !outcome.has_value();
    if (outcome) outcomes_[place] = *outcome;
    return outcome.has_value();
  }

  const Spec& spec_;
  const Study& study_;
  const std::string& results_;
  const RunContext& context_;
  TunedSpec& tuned_;
  std::vector<const Case*> later_;  // what the session runs after this study
  TrialOutcomes outcomes_;
};

StudyChoice choice_of(const Study& study, const StudyState& state) {
  StudyChoice choice;
  if (const TrialStanding* best = state.best()) {
    choice.values = study.points.at(best->place.trial);
    choice.tuned = tuned_json(study, state, study.base.split.seed);
  } else {
    choice.why = why_nothing(state);
  }
  return choice;
}

}  // namespace

TunedSpec run_studies(const Spec& spec, const std::string& folder, const RunContext& context) {
  TunedSpec tuned;
  tuned.spec = spec;
  std::vector<StudyChoice> choices;
  for (std::size_t i = 0; i < spec.studies.size(); ++i) {
    const Study& study = spec.studies[i];
    // Each of its trials would be skipped for it.
    if (const auto why = why_no_implementation(study.base)) {
      choices.push_back({std::nullopt, nullptr, {Status::skipped, *why}});
      tuned.not_run.push_back(study.label + ": " + *why);
      continue;
    }
    StudyRun run(spec, i, folder, context, tuned);
    StudyState state = run.run();
    if (tuned.interrupted) return tuned;
    choices.push_back(choice_of(study, state));
    tuned.studies.push_back({study, std::move(state)});
  }
  tuned.spec = resolve_studies(std::move(tuned.spec), choices);
  return tuned;
}

}  // namespace mf
