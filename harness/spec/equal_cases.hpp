// Sweeps and entries that make the same case twice. It runs once.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace mf {

// One value of a list, without lists: what a sweep of the entry has made of it.
struct ExpandedEntry {
  std::string path;  // of the entry: $.algorithms[2]
  Json resolved;     // with all that decides its cases
};

// A warning for each list of `value` with two equal elements, as "factors": [8, 8.0]. Ranges of a
// search ("tune") are no sweeps.
std::vector<std::string> equal_elements(const Json& value, const std::string& path);

// A warning for each entry that has an expansion in common with an earlier one, or with itself
// without a list in `told` (warnings of equal_elements) to show for it.
std::vector<std::string> equal_entries(const std::vector<ExpandedEntry>& entries,
                                       const std::vector<std::string>& told);

}  // namespace mf
