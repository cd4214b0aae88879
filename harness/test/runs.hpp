// Specs of texts, their runs, and the results.
#pragma once

#include <string>

#include "harness/experiment/spec.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/run/session.hpp"
#include "harness/test/testing.hpp"

namespace mf::testing {

inline Spec spec_from(const std::string& text) {
  return parse_spec(parse_json(text, "t"), "t.json");
}

inline SessionSummary run_in(const std::string& folder, const Spec& spec, RunOptions options = {}) {
  options.folder = folder;
  return run_session(spec, options, *make_progress(ProgressMode::quiet, stdout));
}

inline ResultFile result_of(const std::string& folder, const Case& item) {
  return *read_result_file(folder + "/" + item.id + ".jsonl");
}

// Of the first case.
inline ResultFile run_one(const Spec& spec, const RunOptions& options = {}) {
  const TempFolder folder;
  run_in(folder / "r", spec, options);
  return result_of(folder / "r", spec.cases.at(0));
}

}  // namespace mf::testing
