// Into which parts each rank cuts the rows that it solves in a half-step, where a part goes to all
// others while the next one is solved. The exchange of the last part is waited for, so a small one
// leaves little of it; and each part has a cost of its own. So each part is as much smaller than
// the one before as its solution still hides the exchange of that.
#pragma once

#include "algorithms/core/ranks/row_cuts.hpp"

namespace mf {

inline constexpr int kMostExchangeParts = 16;

struct HalfStep {
  int ranks = 1;
  double solve_s = 0;  // of the rows of one rank, in one part
  double bytes = 0;    // of the rows of all, as they are exchanged
};

// Seconds of the half-step in these parts: they are solved one after another, and exchanged one
// after another beside that, each when it is solved.
double half_step_s(const HalfStep& of, const PartShares& parts);

// So many parts, the first the largest; even ones where the exchange takes longer than the
// solution.
PartShares shrinking_parts(const HalfStep& of, int parts);

// The fewest parts among those of the least estimate; one for one rank, at most kMostExchangeParts.
PartShares parts_to_exchange(const HalfStep& of);

}  // namespace mf
