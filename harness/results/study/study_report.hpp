// The output of `mfbench tune`: each study's choice, and why.
#pragma once

#include <string>
#include <vector>

#include "harness/results/study/study_choice.hpp"
#include "harness/results/study/study_files.hpp"

namespace mf {

// The origin of a case's parameters: the "tuned" of its header. There must be a best trial.
Json tuned_json(const StudyPlan& plan, const StudyState& state, std::uint64_t split_seed);

// Why there is no choice: "no trial has completed: 20 diverged, 4 oom; the first: ...".
Unresolved why_nothing(const StudyState& state);

// One for all of them: "als on ml-1m: the best reg, 0.198, lies at an end of [0.01, 0.2, log];
// ..."; empty if no best value lies there.
std::string edges_warning(const std::vector<FoundStudy>& studies);

// If a trial was stopped at a better score than the chosen one; else empty.
std::string choice_warning(const StudyPlan& plan, const StudyState& state);

// "sgd_serial on ml-1m: learning_rate=0.01 reg=0.05 (validation_rmse 0.9312, trial 7 of 24)"
std::string choice_line(const StudyPlan& plan, const StudyState& state);

// The table of its trials, at most `rows` of them.
std::string to_text(const StudyPlan& plan, const StudyState& state, std::size_t rows = 10);
Json to_json(const StudyPlan& plan, const StudyState& state);

}  // namespace mf
