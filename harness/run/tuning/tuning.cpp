#include "harness/run/tuning/tuning.hpp"

#include <numeric>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/files/files.hpp"
#include "base/json/json.hpp"
#include "harness/experiment/study.hpp"
#include "harness/results/study/study_report.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/plan/preflight.hpp"

namespace mf {
namespace {

// Its id has the study's folder before it.
std::string trial_file(const Case& trial) {
  return trial.id.substr(trial.id.rfind('/') + 1) + ".jsonl";
}

class StudyRun {
 public:
  StudyRun(const Spec& spec, std::size_t number, const RunContext& context, TunedSpec& tuned)
      : spec_(spec),
        study_(spec.studies[number]),
        context_(context),
        folder_(study_folder(context.claims.path(), study_)),
        tuned_(tuned) {
    std::vector<const Case*> cases;  // with later cases of the session
    for (std::size_t i = number; i < spec.studies.size(); ++i) {
      cases.push_back(&spec.studies[i].base);
    }
    for (const Case& item : spec.cases) cases.push_back(&item);
    again_ = done_again(cases).front();
  }

  // Until the study is over or the run is interrupted.
  StudyState run() {
    make_folder_in(context_.claims.path(), study_place(study_));
    write_atomically(folder_ + "/" + kStudyFile, json_text(to_json(study_), 2) + "\n",
                     Origin::found);
    while (true) {
      StudyState state = state_of(study_, outcomes_);
      if (!state.next || !settle(*state.next, state.runs)) return state;
    }
  }

 private:
  // Finds or makes the outcome of a trial; false: interrupted.
  bool settle(const TrialPlace& place, std::int64_t before) {
    const Case item = trial_case(study_, place.trial, place.rung);
    const std::string path = folder_ + "/" + trial_file(item);
    if (const auto file = standing_result(path, item, context_.options)) {
      outcomes_[place] = *outcome_of(*file, study_.metric);
      const bool crashed = context_.options.ended_by != 0;  // one that ran trials of this run
      ++(crashed && changed_ns(path) > context_.options.began_ns ? tuned_.run
                                                                 : tuned_.finished_before);
      return true;
    }
    const auto& interrupted = context_.options.interrupted;
    tuned_.interrupted =
        (interrupted && interrupted() > 0) || context_.options.only == RunOptions::kNoCase;
    if (tuned_.interrupted) return false;
    // The signal ended the trial that has begun and has no end.
    RunOptions options = context_.options;
    const auto begun = read_result_file(path);
    if (!context_.store.ledger().is_first_case() || !begun || begun->status()) options.ended_by = 0;
    const bool share = context_.options.share;
    run_one({spec_, item, path, std::nullopt, share && again_.cut, share && needs_device(item),
             share && (has_own_process(item) || again_.handed_over)},
            static_cast<std::size_t>(before) + 1, static_cast<std::size_t>(study_.runs()),
            {options, context_.claims, context_.neighbour, context_.store, context_.progress});
    ++tuned_.run;
    // By the file, as any later look at it.
    const auto file = read_result_file(path);
    if (file && file->damage) fail(ErrorKind::io, "{}", *file->damage);
    const auto outcome = file ? outcome_of(*file, study_.metric) : std::nullopt;
    tuned_.interrupted = !outcome.has_value();
    if (outcome) outcomes_[place] = *outcome;
    return outcome.has_value();
  }

  const Spec& spec_;
  const Study& study_;
  const RunContext& context_;
  const std::string folder_;
  TunedSpec& tuned_;
  DoneAgain again_;  // of its trials
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

// The studies of a spec, some of which other processes may run.
class Studies {
 public:
  Studies(const Spec& spec, const RunContext& context) : spec_(spec), context_(context) {
    tuned_.spec = spec;
    choices_.resize(spec.studies.size());
    found_.resize(spec.studies.size());
  }

  TunedSpec run() {
    std::vector<std::size_t> all(spec_.studies.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto attempt = [this](HeldWork& work) { return this->attempt(work); };
    const auto await = [this](const std::vector<HeldWork>& held) {
      return await_claims(context_.claims, held, Rest::wait, context_.options.interrupted);
    };
    tuned_.interrupted |= !take_turns(all, attempt, await).empty();
    if (tuned_.interrupted) return std::move(tuned_);
    for (auto& study : found_) {
      if (study) tuned_.studies.push_back(std::move(*study));
    }
    tuned_.spec = resolve_studies(std::move(tuned_.spec), choices_);
    return std::move(tuned_);
  }

 private:
  Turn attempt(HeldWork& work) {
    const std::size_t i = work.index;
    const Study& study = spec_.studies[i];
    // Each of its trials would be skipped for it.
    if (const auto why = why_no_implementation(study.base)) {
      choices_[i] = {std::nullopt, nullptr, {Status::skipped, *why}};
      tuned_.not_run.push_back(study.label + ": " + *why);
      return Turn::over;
    }
    work.key = "tune-" + study.name;
    work.patience = patience_of(context_.options);
    const auto claim = take_claim(work.key, context_);
    if (!claim) return Turn::held;
    StudyState state = StudyRun(spec_, i, context_, tuned_).run();
    if (!claim->is_held() && !tuned_.interrupted) return Turn::held;
    if (tuned_.interrupted) return Turn::stop;
    choices_[i] = choice_of(study, state);
    found_[i] = FoundStudy{study, std::move(state)};
    return Turn::over;
  }

  const Spec& spec_;
  const RunContext& context_;
  TunedSpec tuned_;
  std::vector<StudyChoice> choices_;
  std::vector<std::optional<FoundStudy>> found_;
};

}  // namespace

TunedSpec run_studies(const Spec& spec, const RunContext& context) {
  return Studies(spec, context).run();
}

}  // namespace mf
