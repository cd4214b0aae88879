// Folders of results of one spec, joined: the shards of machines that share no folder.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mf {

struct Merged {
  std::size_t cases = 0;             // of the spec
  std::size_t copied = 0;            // their files
  std::vector<std::string> missing;  // cases without a result
};

// Copies the files of cases, byte by byte, with their models and the trials of the spec's studies,
// into `out`, which may have results of this spec. A result replaces an unfinished file. All is
// checked before anything is written: throws Error(usage) if a folder is not a folder of results,
// is packed, has a packed study or is of another spec, Error(data) if two have different results of
// a case, if one is of another case than its name, or if there is a link in what is copied, and
// Error(io) if a run is at work in one.
Merged merge_results(const std::string& out, const std::vector<std::string>& folders);

std::string to_text(const Merged& merged, const std::string& out);

}  // namespace mf
