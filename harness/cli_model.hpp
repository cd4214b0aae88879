// What `mfbench predict` and `mfbench recommend` read, by the ids of an exported model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/evaluate/model_io.hpp"

namespace mf {

// A user or an item as it is called, and its row in the model; -1 of one that it does not know.
struct GivenId {
  std::string text;
  std::int64_t row = -1;
};

// Calls body(user, item) for lines "user item" of a file, or of standard input ("-"). If ids are
// text, a line with a tab is cut at tabs only, so that ids may have blanks. Blank lines are left
// out. Throws Error(data) that names file and line of anything else.
void for_pairs(const std::string& path, const SavedModel& model,
               const std::function<void(const GivenId& user, const GivenId& item)>& body);

// Lines "item value", or "item" for the value 1. Items that the model does not know are left out,
// with a warning.
std::vector<RowRating> read_history(const std::string& path, const SavedModel& model);

// Folded in. Unless `cold`, throws Error(data) for a history without an item that the model knows,
// which would give every user the same list.
ModelUser read_new_user(const std::string& path, const SavedModel& model, bool cold);
inline constexpr const char* kHistoryHelp = "a new user: file of lines \"item value\" or \"item\"";

// The rows of the users of a file, one id a line, all of which the model has to know.
std::vector<std::int64_t> read_users(const std::string& path, const SavedModel& model);

// Of an option. Throws Error(usage) if ids are integers and the text is none.
GivenId given_id(const char* option, const std::string& text, const ModelIds& ids);

// Throws Error(data) for a user that the model does not know. `where` begins the message.
void check_user(const SavedModel& model, const GivenId& user, const std::string& where);

// Ids of either side are text, which may have blanks: a tab stands between columns.
inline bool has_names(const SavedModel& model) {
  return !model.users.names.empty() || !model.items.names.empty();
}

}  // namespace mf
