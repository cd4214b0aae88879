// Lines that people give to `predict` and `recommend`: pairs to predict, the history of a user.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/evaluate/model_io.hpp"

namespace mf {

// Lines "user item" of a file, or of standard input ("-"), by the ids of the model's files; empty
// lines are left out. Throws Error(data) that names file and line where there is something else.
void for_pairs(const std::string& path,
               const std::function<void(std::int32_t user, std::int32_t item)>& body);

// Lines "item value", or "item" alone for the value 1.
std::vector<HistoryItem> read_history(const std::string& path);

}  // namespace mf
