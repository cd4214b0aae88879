// Which rows are solved without A, and by how many warps. For the host, too.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/als/fused/layout.hpp"
#include "base/view.hpp"

namespace mf::ials {

// Shared memory in bytes.
struct AppliedLimits {
  std::int64_t of_multiprocessor = 0;
  std::int64_t of_block = 0;
};

// Lanes that have a row, 8 factors each; a warp has one or two rows at a time.
constexpr int applied_lanes(int factors) { return als::fused_stride(factors) <= 128 ? 16 : 32; }

// Warps of a multiprocessor that the kernel's registers allow, and of a block: more of them for
// more pairs, so that the pairs of a warp are about as many in each.
inline constexpr int kAppliedWarps = 16;
inline constexpr int kAppliedBlockWarps[] = {2, 4, 8, 16};

// Shared memory of a block: of each pair its row, the index and two floats; and two buffers with
// each warp's part of a product.
constexpr std::int64_t applied_pair_bytes(int factors) {
  return als::fused_stride(factors) * 2 + 12;
}
constexpr std::int64_t applied_bytes(int factors, int warps, std::int64_t pairs) {
  return pairs * applied_pair_bytes(factors) +
         std::int64_t{2} * warps * applied_lanes(factors) * 32;
}

// Pairs of the longest row that a block of so many warps takes; 0: none. As many blocks as their
// registers allow then fit in a multiprocessor.
std::int64_t applied_capacity(const AppliedLimits& limits, int factors, int warps);

// The longest row for which forming A is estimated to take longer, by README.md's cycles.
std::int64_t applied_break_even(int factors, int steps);

// Tasks [first, first + count), a thread block of `warps` warps each; no row has more than `pairs`.
struct AppliedLaunch {
  std::int64_t first = 0;
  std::int64_t count = 0;
  int warps = 0;
  std::int64_t pairs = 0;
};
using AppliedPlan = std::vector<AppliedLaunch>;

// For tasks from `first` on, each a whole row, the longest first, none beyond the capacity.
AppliedPlan plan_applied(View<const als::FusedTask> tasks, std::int64_t first,
                         const AppliedLimits& limits, int factors);

}  // namespace mf::ials
