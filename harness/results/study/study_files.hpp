// A study on the disk: RESULTS/tune/<study>/ with study.json and a result file for each run of a
// trial. Only these files decide the choice.
#pragma once

#include <string>
#include <vector>

#include "harness/results/files/result_file.hpp"
#include "harness/results/study/study_choice.hpp"

namespace mf {

inline constexpr const char* kStudyFile = "study.json";

std::string study_place(const StudyPlan& plan);  // tune/<study>
// RESULTS/tune/<study>
std::string study_folder(const std::string& results, const StudyPlan& plan);

// Whether it is the folder "tune" of a folder of results.
bool holds_studies(const std::string& folder);

// The outcome of the trial of a finished file; empty if it is unfinished or was interrupted.
std::optional<TrialOutcome> outcome_of(const ResultFile& file, Metric metric);

// A study that was read back from its folder.
struct FoundStudy {
  StudyPlan plan;
  StudyState state;
};

// All studies below a folder of results, by name; one that is damaged is named and left out. Throws
// Error(usage) without a study, and Error(data) if no study can be read.
std::vector<FoundStudy> read_studies(const std::string& results);

}  // namespace mf
