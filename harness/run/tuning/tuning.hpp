// The trials of a spec's studies, before its cases: each a result file below RESULTS/tune, so that
// a killed run can go on.
#pragma once

#include <string>
#include <vector>

#include "harness/experiment/spec.hpp"
#include "harness/results/study/study_files.hpp"
#include "harness/run/one_case.hpp"

namespace mf {

struct TunedSpec {
  Spec spec;  // with the chosen parameters; unchanged if `interrupted`
  std::vector<FoundStudy> studies;
  std::vector<std::string> not_run;  // "als on ml-1m: als needs CUDA; this build lacks it"
  int run = 0;                       // trials that ran now,
  int finished_before = 0;           // and that were on file
  bool interrupted = false;
};

// Runs missing trials and resolves the spec by them. One process runs a study; others take other
// studies, and wait. Throws as run_one().
TunedSpec run_studies(const Spec& spec, const RunContext& context);

}  // namespace mf
