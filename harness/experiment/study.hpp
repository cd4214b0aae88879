// From a study to the cases of its trials, and from what it chose to the cases of the spec.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/experiment/spec.hpp"

namespace mf {

// The case of a trial (its index among the points) in a rung: trained for the rung's epochs and
// judged only by the validation part, where no rule asks for more after its last epoch.
Case trial_case(const Study& study, std::size_t trial, std::size_t rung);

// What a study came to: the values of its best trial with what the header of its cases says of
// them, or why not.
struct StudyChoice {
  std::optional<Json> values;
  Json tuned;
  Unresolved why;
};

// The spec with all parameters known; `choices` are those of its studies. Cases of a study that
// chose nothing stay, and are not run but end as it says.
Spec resolve_studies(Spec spec, const std::vector<StudyChoice>& choices);

// To study.json, and back. Throws Error(data) for what is not whole; `where` names the file.
Json to_json(const StudyPlan& plan);
StudyPlan read_study_plan(const Json& json, const std::string& where);

}  // namespace mf
