// Counts of an arrangement. A step is the simultaneous work of all threads of a thread block: the
// products, a round of the tree or the update of a rating (tree), or up to as many ratings of a
// group as there are threads (grouped). A lane step is one thread's part in it.
#pragma once

#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/gpusgd/schedule.hpp"
#include "algorithms/gpusgd/settings.hpp"

namespace mf::gpusgd {

struct BlockCounts {
  std::int64_t blank = 0;   // blocks without ratings
  std::int64_t steps = 0;   // of all blocks
  std::int64_t serial = 0;  // of the longest block of each diagonal, summed
};

// Facts for the result's header; NOTES.md has their meaning.
Json facts_of(const Settings& settings, const Cut& cut, const BlockCounts& counts,
              const ProblemShape& shape);

}  // namespace mf::gpusgd
