// The variants of the post's kernel. Light: kernels include it.
#pragma once

#include <cstdint>

namespace mf::ials {

// How y_i . x is summed for an observed pair.
enum class Dot {
  atomic,   // over the block: a thread a factor, added in shared memory one by one
  shuffle,  // over the block: a thread a factor, warps by shuffles, then their sums
  warp,     // over a warp, which takes the whole pair (ours)
};

// How thread t reads the Gram matrix for its element of G v.
enum class GramAccess {
  strided,    // row t: neighbouring threads read words a row apart
  coalesced,  // column t, which is the same, as G is symmetric: neighbouring words
};

// For dot atomic and shuffle: threads of a block.
constexpr std::int64_t kMostPostFactors = 1024;

struct LeastSquaresVariant {
  Dot dot = Dot::shuffle;
  GramAccess gram_access = GramAccess::coalesced;
  bool prefetch = true;
  std::int64_t blocks = 1024;
};

}  // namespace mf::ials
