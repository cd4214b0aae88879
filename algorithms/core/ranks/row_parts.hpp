// Rows of R cut into parts that are as equal as can be: the tasks of thread blocks or warps. Light:
// kernels include it.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace mf {

// Ratings [begin, begin + count) of a row. Each part k of a row that is cut has its own slot,
// first_slot + k, for results that the others must add.
struct RowPart {
  std::int64_t begin = 0;
  std::int32_t count = 0;
  std::int32_t row = 0;
  std::int32_t row_count = 0;  // ratings of the whole row
  std::int32_t part = 0;
  std::int32_t parts = 1;
  std::int32_t first_slot = 0;  // of a row that is cut
  bool operator==(const RowPart&) const = default;
};
static_assert(sizeof(RowPart) == 32, "kernels read it as two 16-byte words");

// Parts of a row of `count` ratings, each of at most `longest`: at least one.
MF_HD std::int64_t parts_of_row(std::int64_t count, std::int64_t longest) {
  return count <= longest ? 1 : (count + longest - 1) / longest;
}

// The start of part `part` of `parts`, counted from the row's first rating; part == parts: its end.
MF_HD std::int64_t part_begin(std::int64_t count, std::int64_t part, std::int64_t parts) {
  return count * part / parts;
}

}  // namespace mf
