// The order in which thread blocks take the parts of rows.
#pragma once

#include <cstdint>

#include "algorithms/core/ranks/row_parts.hpp"
#include "base/host_device.hpp"

namespace mf {

// Smaller numbers first: the parts of cut rows by their place in the row, whole rows by falling
// length, and last the rows of at most `last_up_to` ratings. The ratings of a row are in the order
// of the other side, so the parts in work at once read nearby rows of it, from the cache; and short
// rows are left for the end. The row begins at `row_begin`; no part is longer than `longest`.
inline constexpr std::int64_t kPartPlaces = 1 << 16;
MF_HD std::int64_t part_order(const RowPart& part, std::int64_t row_begin, std::int64_t longest,
                              std::int64_t last_up_to) {
  if (part.parts > 1) return (part.begin - row_begin) * kPartPlaces / part.row_count;
  const std::int64_t after = part.count <= last_up_to ? longest + 1 : 0;
  return kPartPlaces + after + longest - part.count;
}
// All are less.
constexpr std::int64_t part_orders(std::int64_t longest) { return kPartPlaces + 2 * (longest + 1); }

}  // namespace mf
