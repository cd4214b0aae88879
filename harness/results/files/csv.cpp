#include "harness/results/files/csv.hpp"

namespace mf {
namespace {

std::string quoted(const std::string& text) {
  // The empty text in quotes: nothing at all is a value that is missing.
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += c;
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return quoted(value.get_ref<const std::string&>());
  const std::string text = value.dump();
  return value.is_structured() ? quoted(text) : text;
}

void add_flat(const Json& object, const std::string& prefix, std::map<std::string, Json>& cells) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      add_flat(value, prefix + key + ".", cells);
    } else {
      cells.emplace(prefix + key, value);
    }
  }
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells) line += (line.empty() ? "" : ",") + quoted(cell);
  return line;
}

}  // namespace mf
