// Lines that people give to `predict` and `recommend`: pairs to predict, the history of a user.
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

// Throws Error(usage) that names the option where the ids are integers and this is none.
GivenId given_user(const SavedModel& model, const std::string& text);
GivenId given_item(const SavedModel& model, const std::string& text);

// Lines "user item" of a file, or of standard input ("-"), by the ids of the model's files; empty
// lines are left out. Where ids are text, a line with a tab is cut at tabs alone, so that ids may
// have blanks. Throws Error(data) that names file and line where there is something else.
void for_pairs(const std::string& path, const SavedModel& model,
               const std::function<void(const GivenId& user, const GivenId& item)>& body);

// Lines "item value", or "item" alone for the value 1. Names that the model does not know are left
// out, with a warning.
std::vector<HistoryItem> read_history(const std::string& path, const SavedModel& model);

}  // namespace mf
