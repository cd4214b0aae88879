// The results of a run, or the trials of a study, as stored on the disk: a folder with a file a
// case, or one packed file in its place (docs/results.md, "Packed results").
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/experiment/spec.hpp"
#include "harness/results/files/result_file.hpp"

namespace mf {

struct StoredCase {
  std::string path;  // of its file; of a packed case, of the file that it was packed from
  ResultFile file;

  std::string name() const;  // without folder and ending
};

// The data beside the cases.
struct StoredSpec {
  Json spec;   // spec.json; null without one that can be read
  Json study;  // study.json, the same
  bool damaged_spec = false;

  // The ids in `spec`, in its order; empty without one: then all cases count.
  std::optional<std::vector<std::string>> listed() const;
};

// Called for each case, one after the other; the spec is whole before the first.
using TakeStored = std::function<void(StoredCase one, const StoredSpec& beside)>;

// The packed file that `path` is, or that stands in its place: results/ml-1m.jsonl.xz for
// results/ml-1m if that is not a folder with results. Empty without one.
std::optional<std::string> packed_in_place_of(const std::string& path);

// The folder that a packed file replaces.
std::string folder_of_packed(const std::string& file);

// Whether the path has the ending of a packed file.
bool is_packed_name(const std::string& path);

// Visits all cases in the order of the spec.json, unlisted ones behind the others, by name; packed
// ones in the order of their file. No more than one case is in memory, and a packed file's text.
// Damaged cases are among them, with the fault; a damaged spec.json gives a warning. Throws
// Error(usage) if `path` is neither a folder nor packed, Error(data) if a packed file is malformed
// or cut off, and Error(unsupported) if this build cannot read one.
StoredSpec visit_stored_results(const std::string& path, const TakeStored& take);

// The same of the lines that are packed in the file `path`, once they are unpacked.
StoredSpec visit_packed_lines(const std::string& path, std::string_view lines,
                              const TakeStored& take);

// The spec with the ids that its cases have in the folder. The hash of a case identifies it; its
// name also depends on the rest of the spec and on the version that wrote it. If no file has the
// case's name, the case takes the name of the file with its hash, and keeps its own without one.
Spec named_as_in(const std::string& folder, Spec spec);

}  // namespace mf
