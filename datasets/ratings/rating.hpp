// The two records of a rating, on host and device alike. Plain data only: this header is included
// by files that are compiled for AVX, whose inline functions must not reach code for every CPU.
#pragma once

#include <cstdint>

namespace mf {

// By itself.
struct Rating {
  std::int32_t user;
  std::int32_t item;
  float value;
};

// In the row of its user, or the column of its item: `other` is the index on the other side.
struct RowRating {
  std::int32_t other;
  float value;
};

}  // namespace mf
