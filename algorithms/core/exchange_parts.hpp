// Into how many parts each rank cuts the rows that it solves in a half-step, where a part goes to
// all others while the next one is solved. The exchange of the last part is waited for, so many
// parts leave little of it; and each part has a cost of its own.
#pragma once

namespace mf {

inline constexpr int kMostExchangeParts = 16;

struct HalfStep {
  int ranks = 1;
  double solve_s = 0;  // of the rows of one rank, in one part
  double bytes = 0;    // of the rows of all, as they are exchanged
};

// Seconds of the half-step in so many parts: of a part the longer of solving the next one and of
// exchanging it.
double half_step_s(const HalfStep& of, int parts);

// The fewest parts among those of the least estimate; 1 for one rank, at most kMostExchangeParts.
int parts_to_exchange(const HalfStep& of);

}  // namespace mf
