// Tables of text: columns below each other, as wide as there is room for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mf {

struct Column {
  std::string heading;
  bool left = false;
  std::size_t least = 0;  // width
};

using Cells = std::vector<std::string>;

// If `room` is too narrow, less important columns are left out, and the data set if all lines have
// the same; then names are cut, and in the end lines. Cells come from files: control characters are
// escaped.
std::string table_text(std::vector<Column> columns, std::vector<Cells> lines, std::size_t room);

}  // namespace mf
