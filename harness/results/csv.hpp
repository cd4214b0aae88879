// Rows whose columns are not all known before the last of them, as comma-separated text (RFC 4180).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"

namespace mf {

// A number in as many digits as give it back, true or false, text in quotes where it needs them;
// nothing for null. Lists are JSON in quotes.
std::string csv_cell(const Json& value);

using Cells = std::vector<std::pair<std::string, Json>>;  // column, value

// Adds the values of an object, those of objects inside under their names joined by dots:
// {"a": {"b": 1}} gives {prefix}a.b.
void add_flat(const Json& object, const std::string& prefix, Cells& cells);

// Keeps the rows as text: about as large in memory as in the file.
class CsvTable {
 public:
  // Columns that are there even if no row has them, and come first.
  explicit CsvTable(const std::vector<std::string>& columns);

  // Columns that are new come after those before. A column that stands twice has the first value.
  void add(const Cells& cells);

  const std::vector<std::string>& columns() const { return columns_; }
  std::size_t rows() const { return rows_.size(); }
  // Row i with empty cells up to the last column; without the end of a line.
  std::string row(std::size_t i) const;

 private:
  std::size_t column(const std::string& name);

  struct Row {
    std::string cells;
    std::size_t last;  // column that the text reaches
  };
  std::vector<std::string> columns_;
  std::map<std::string, std::size_t> places_;
  std::vector<Row> rows_;
};

// "a,b,c"
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace mf
