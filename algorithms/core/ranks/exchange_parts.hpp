// Cuts the rows that each rank solves in a half-step into parts; a part goes to all others while
// the next one is solved. The ranks wait for the exchange of the last part, so it should be small;
// and each part has a fixed cost. So each part is just large enough for its solution to hide the
// exchange of the one before.
#pragma once

#include "algorithms/core/ranks/row_cuts.hpp"

namespace mf {

inline constexpr int kMostExchangeParts = 16;

struct HalfStep {
  int ranks = 1;
  double solve_s = 0;  // of the rows of one rank, in one part
  double bytes = 0;    // of all rows, as exchanged
};

// Seconds of the half-step in these parts: they are solved one after another, and exchanged one
// after another beside that, each when it is solved.
double half_step_s(const HalfStep& of, const PartShares& parts);

// So many parts, the first the largest; even ones if the exchange takes longer than the solution.
PartShares shrinking_parts(const HalfStep& of, int parts);

// The fewest parts among those of the least estimate; one for one rank, at most kMostExchangeParts.
PartShares parts_to_exchange(const HalfStep& of);

}  // namespace mf
