// One side of R: its rows, or its columns in the same form.
#pragma once

#include <cstdint>

#include "base/view.hpp"

namespace mf::als {

// Row x has the ratings offsets[x] to offsets[x + 1]: the index on the other side, and a value
// (als: the rating with the center removed).
struct Side {
  View<const std::int64_t> offsets;  // rows + 1
  View<const std::int32_t> others;   // nnz
  View<const float> values;          // nnz
  const char* of = "row";            // for messages: "user" or "item"
  View<const float> unobserved =
      {};  // of implicit feedback, c of each row of the other side; empty: 1

  std::int64_t rows() const { return offsets.size() - 1; }
  std::int64_t nnz() const { return others.size(); }
  float unobserved_of(std::int64_t k) const {
    return unobserved.empty() ? 1.0F : unobserved[others[k]];
  }
  std::int64_t length(std::int64_t row) const { return offsets[row + 1] - offsets[row]; }
};

}  // namespace mf::als
