// What `mfbench predict` and `mfbench recommend` read, by the ids of an exported model.
#pragma once

#include <CLI/CLI.hpp>
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

// Keys of the users of a file, one id a line. Throws Error(data) that names file and line of an id
// that is malformed, or that the model does not know.
std::vector<std::int32_t> read_users(const std::string& path, const SavedModel& model);

// For --user. Throws Error(usage) for a malformed id, Error(data) for an unknown one.
std::int32_t known_user(const SavedModel& model, const std::string& user);

// Lines "item value", or "item" for the value 1. Names that the model does not know are left out,
// with a warning.
std::vector<HistoryItem> read_history(const std::string& path, const SavedModel& model);

// A history without a known item would give every user the same list. Throws Error(data).
void refuse_empty(const FoldedUser& user, const std::string& path);

CLI::Option* add_history(CLI::App* command, std::string& path);  // --history

const char* separator_of(const SavedModel& model);  // of columns: a tab where ids are text

void add_recommend(CLI::App& app);

}  // namespace mf
