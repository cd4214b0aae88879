// How the rows of a side are shared among threads. Rows go longest first, so that no long one is
// left for the end; rows so long that even this would leave threads idle are cut, and all threads
// work on their parts.
//
// The order of additions does not depend on this: every row of more than kPartRatings ratings is
// summed by parts, which are added in order, by any thread. So the number of threads does not
// change the result.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/als/side.hpp"

namespace mf::als::cpu {

constexpr std::int64_t kPartRatings = 8192;
constexpr std::int64_t kMaxParts = 256;

// Parts of a row of n ratings, and the start of part p.
inline std::int64_t part_count(std::int64_t n) {
  const std::int64_t parts = (n + kPartRatings - 1) / kPartRatings;
  return parts < kMaxParts ? parts : kMaxParts;
}
inline std::int64_t part_begin(std::int64_t n, std::int64_t parts, std::int64_t p) {
  return n / parts * p + n % parts * p / parts;
}

struct RowPlan {
  std::vector<std::int32_t> rows;   // rows with ratings, longest first
  std::int64_t shared = 0;          // the first of them, on which all threads work together
  std::vector<std::int64_t> waves;  // cuts [0, shared): rows whose parts are held at one time
  std::vector<std::int64_t> cuts;   // cuts [shared, rows.size()): a thread's turns
};

RowPlan make_row_plan(const Side& side, std::int32_t factors, int threads);

// A part of a row: ratings [begin, end) of the side.
struct RowSpan {
  std::int64_t number;  // of the row in its wave
  std::int64_t begin, end;
  std::int64_t count() const { return end - begin; }
};
// The rows of a wave in parts, one after another.
struct WaveParts {
  std::vector<RowSpan> parts;
  std::vector<std::int64_t> of_row;  // the first of each row, and the end
};
// The wave has the rows at positions [first, last) of the plan.
WaveParts cut_wave(const Side& side, const RowPlan& plan, std::int64_t first, std::int64_t last);

}  // namespace mf::als::cpu
