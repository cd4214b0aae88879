#include "algorithms/core/row_cuts.hpp"

namespace mf {

RowCuts cut_rows(View<const std::int64_t> offsets, double row_cost, int ranks) {
  const std::int64_t rows = offsets.size() - 1;
  const auto cost = [&](std::int64_t row) {
    const std::int64_t count = offsets[row + 1] - offsets[row];
    return count > 0 ? static_cast<double>(count) + row_cost : 0.0;
  };
  double all = 0;
  for (std::int64_t row = 0; row < rows; ++row) all += cost(row);
  // A row goes to the rank in whose share its middle lies.
  RowCuts cuts = {0};
  double before = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const double middle = before + cost(row) / 2;
    while (std::ssize(cuts) < ranks &&
           middle >= all * static_cast<double>(std::ssize(cuts)) / ranks && all > 0) {
      cuts.push_back(row);
    }
    before += cost(row);
  }
  while (std::ssize(cuts) < ranks + 1) cuts.push_back(rows);
  return cuts;
}

}  // namespace mf
