// Runs one case: the readable loop of the harness.
//
//   load -> split -> initial factors -> prepare -> [ run_epochs -> evaluate -> trace ]* -> footer
//
// Every second of the wall is on one of seven clocks (start, load, prepare, transfer, train,
// evaluate, save; harness/results/meaning/ranges.hpp), or in the rest. Clocks overlap only if a
// process starts its device while it loads and packs.
// run_epochs is the only call on the training clock: one epoch at a time on the CPU, on a device
// groups of short ones.
#pragma once

#include <optional>
#include <string>

#include "harness/experiment/spec.hpp"
#include "harness/results/files/case_result.hpp"
#include "harness/run/data/data_store.hpp"
#include "harness/run/run_options.hpp"
#include "harness/run/show/progress.hpp"

namespace mf {

// A case and the places of its output.
struct CaseTask {
  const Spec& spec;
  const Case& item;
  std::string result_file;                  // is appended to
  std::optional<std::string> model_folder;  // of the model after the last epoch
  bool keep_ratings = false;                // a later case cuts the same data set in another way
  bool keep_on_device = false;              // a later case trains on the same ratings there
  bool keep_training_files = false;         // the process of a later case does, by their files
  double measuring_s = 0;                   // for so long its process measured its host first
};

// Never throws for errors of the case (out of memory, exceptions of its algorithm): these are its
// status. Throws Error(io) if the result cannot be written.
CaseResult run_case(const CaseTask& task, const RunOptions& options, DataStore& store,
                    Progress& progress);

}  // namespace mf
