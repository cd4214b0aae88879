// The files that `mfbench predict` and `mfbench recommend` read, by the ids of an exported model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/evaluate/model_io.hpp"

namespace mf {

// Calls body(user, item) with the rows of lines "user item" of a file, or of standard input ("-").
// If ids are text, a line with a tab is cut at tabs only, so that ids may have blanks. Skips blank
// lines. Throws Error(data) that names file and line of anything else, and without
// `cold` of rows that have no rating in training.
void for_pairs(const std::string& path, const SavedModel& model,
               const std::function<void(std::int64_t user, std::int64_t item)>& body,
               bool cold = true);

// Lines "item value", or "item" for the value 1. Warns of items that the model does not know and
// leaves them out.
std::vector<RowRating> read_history(const std::string& path, const SavedModel& model);

}  // namespace mf
