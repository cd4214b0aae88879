// Tasks of thread blocks and warps. Light: kernels include it.
#pragma once

#include <cstdint>

namespace mf::als {

// Ratings [begin, begin + count) of a row, for one thread block (A) or warp (b).
struct RowTask {
  std::int64_t begin;
  std::int32_t count;
  std::int32_t row;
  std::int32_t slot;  // of the row in its batch
  std::int32_t part;  // negative: the whole row; else where the batch keeps this part
  bool operator==(const RowTask&) const = default;
};

// A row in parts, to be added up in their order.
struct SplitRow {
  std::int64_t count;  // ratings of the row
  std::int32_t slot;
  std::int32_t first_part;
  std::int32_t parts;
  bool operator==(const SplitRow&) const = default;
};

}  // namespace mf::als
