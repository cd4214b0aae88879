// What `mfbench predict` and `mfbench recommend` read, by the ids of an exported model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/evaluate/model_io.hpp"

namespace mf {

// What people call a user or an item, and its key in the model.
struct GivenId {
  std::string text;
  std::int32_t key = 0;
};

// Lines "user item" of a file, or of standard input ("-"), by the ids of the model's files; empty
// lines are left out. Where ids are text, a line with a tab is cut at tabs only, so that ids may
// have blanks. Throws Error(data) that names file and line where there is something else.
void for_pairs(const std::string& path, const SavedModel& model,
               const std::function<void(const GivenId& user, const GivenId& item)>& body);

// Lines "item value", or "item" for the value 1. Names that the model does not know are left out,
// with a warning.
std::vector<HistoryItem> read_history(const std::string& path, const SavedModel& model);

}  // namespace mf
