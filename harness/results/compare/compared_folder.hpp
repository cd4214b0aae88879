// The results of a folder, as a comparison takes them: read, and grouped by common settings.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/compare/compared_case.hpp"
#include "harness/results/compare/origins.hpp"
#include "harness/results/files/stored_results.hpp"

namespace mf {

struct FolderSummary {
  std::string folder;
  std::string side;                  // of --between; empty: all of the folder
  int files = 0;                     // that were read
  std::vector<std::string> commits;  // and machines, each once
  std::vector<std::string> machines;
  std::vector<std::string> left_out;  // "<file>: <why>"
  Origins origins;
};

struct ComparedFolder {
  FolderSummary summary;
  std::vector<ComparedCase> cases;
};

// The device in the machine of a case, also of one that trained on the CPU; else its processor.
std::string card_of(const Json& header);

// Calls `take` for each case of a folder or a packed file, except cases that the spec.json does not
// list; a line on standard error says so. Throws what visit_stored_results() throws.
void visit_listed_results(const std::string& path, const TakeStored& take);

// Adds the extract of one result. Damaged, unfinished and profiled files are left out; of damage, a
// line on standard error says so. Its target is the requested one, or the spec.json's for all
// cases, or without a spec.json the header's.
void take_case(const StoredCase& stored, const StoredSpec& beside,
               const std::optional<TargetSpec>& asked, ComparedFolder& folder);

// Gives each run that failed before its data were loaded the configuration, and the repeat if there
// is a run of the same seed, of the runs that agree with it in everything but facts of loaded data:
// the content of the data set and its split. Does nothing if no run agrees, or several kinds of
// them do.
void place_unloaded(const std::vector<ComparedCase*>& cases);

// Takes the names, or sections, out of all configurations. Throws Error(usage) for a name that no
// case has.
void drop_ignored(const std::vector<std::string>& names, const std::vector<ComparedCase*>& cases);

using Runs = std::map<Repeat, const ComparedCase*>;  // of the folder
using Groups = std::map<std::string, Runs>;          // by configuration

// Throws Error(usage) if two cases of one repeat are alike; `ignored` is for its message.
Groups group_by_configuration(const ComparedFolder& folder,
                              const std::vector<std::string>& ignored);

}  // namespace mf
