// From a study to the cases of its trials, and from its choice to the cases of the spec.
#pragma once

#include <optional>
#include <vector>

#include "harness/experiment/spec.hpp"

namespace mf {

// The case of a trial (its index among the points) in a rung: trained for the rung's epochs and
// judged only by the validation part, unless a rule asks for more after its last epoch.
Case trial_case(const Study& study, std::size_t trial, std::size_t rung);

// The result of a study: the values of its best trial and the entry for the headers of its cases,
// or why there is none.
struct StudyChoice {
  std::optional<Json> values;
  Json tuned;
  Unresolved why;
};

// The spec with all parameters known; `choices` are of its studies. Cases of a study that chose
// nothing stay, but end as it says without a run.
Spec resolve_studies(Spec spec, const std::vector<StudyChoice>& choices);

// To study.json, and back. Throws Error(data) for incomplete plans; `where` names the file.
Json to_json(const StudyPlan& plan);
StudyPlan read_study_plan(const Json& json, const std::string& where);

}  // namespace mf
