#include "harness/results/csv.hpp"

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

void add_flat(const Json& object, const std::string& prefix, Cells& cells) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      add_flat(value, prefix + key + ".", cells);
    } else {
      cells.emplace_back(prefix + key, value);
    }
  }
}

CsvTable::CsvTable(const std::vector<std::string>& columns) {
  for (const auto& name : columns) column(name);
}

std::size_t CsvTable::column(const std::string& name) {
  const auto [place, is_new] = places_.emplace(name, columns_.size());
  if (is_new) columns_.push_back(name);
  return place->second;
}

void CsvTable::add(const Cells& cells) {
  std::map<std::size_t, std::string> sorted;
  for (const auto& [name, value] : cells) sorted.emplace(column(name), csv_cell(value));
  Row row{"", 0};
  for (const auto& [place, text] : sorted) {
    for (; row.last < place; ++row.last) row.cells += ',';
    row.cells += text;
  }
  rows_.push_back(std::move(row));
}

std::string CsvTable::row(std::size_t i) const {
  const Row& row = rows_.at(i);
  return row.cells + std::string(columns_.size() - 1 - row.last, ',');
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells) line += (line.empty() ? "" : ",") + quoted(cell);
  return line;
}

}  // namespace mf
