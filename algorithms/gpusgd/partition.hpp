// The ratings in the order in which the blocks are worked on: diagonal by diagonal, block by block.
// All of it is the same for any number of threads.
#pragma once

#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/gpusgd/schedule.hpp"
#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings.hpp"

namespace mf::gpusgd {

// gpusgd: R padded to a square, blocks of ceil(max(m, n) / l) squared.
Cut square_cut(std::int32_t n_users, std::int32_t n_items, std::int32_t blocks);
// newgpusgd: blocks of ceil(m / l) x ceil(n / l).
Cut rectangular_cut(std::int32_t n_users, std::int32_t n_items, std::int32_t blocks);

struct Partition {
  Cut cut;
  AlignedVector<Rating> ratings;        // of slot s (slot_of): offsets[s] to offsets[s + 1]
  AlignedVector<std::int64_t> offsets;  // l * l + 1

  std::int64_t slots() const { return std::int64_t{cut.blocks} * cut.blocks; }
};

// Ratings of a block by user, then item.
Partition make_partition(const Ratings& train, const Cut& cut, ThreadTeam& team);

// Puts the ratings of each block into random order, one that depends on the seed and the block.
void shuffle_blocks(Partition& partition, std::uint64_t seed, ThreadTeam& team);

// The groups of all blocks that have a rating: those of slot s are first[s] to first[s + 1] - 1;
// group g is the ratings begins[g] to begins[g + 1] - 1.
struct Groups {
  AlignedVector<std::int64_t> first;   // l * l + 1
  AlignedVector<std::int64_t> begins;  // number of groups + 1
};

// Sorts the ratings of each (square) block by group, then user.
Groups group_blocks(Partition& partition, ThreadTeam& team);

struct BlockCounts {
  std::int64_t all = 0;      // l * l
  std::int64_t blank = 0;    // without a rating
  std::int64_t padding = 0;  // of the blank ones, those that hold no cell of R
};
BlockCounts count_blocks(const Partition& partition, std::int32_t n_users, std::int32_t n_items,
                         ThreadTeam& team);

// A step is what all threads of a thread block do at once; a lane step is one thread's part in it.
struct LaneCounts {
  std::int64_t lane_steps = 0;    // of an epoch
  std::int64_t idle = 0;          // of these, those without work
  std::int64_t serial_steps = 0;  // steps of the longest block of each diagonal, summed
};
// gpusgd: a step updates up to `threads` ratings of one group.
LaneCounts count_grouped_lanes(const Partition& partition, const Groups& groups, int threads,
                               ThreadTeam& team);
// newgpusgd: the steps of a rating are the products, the rounds of the tree and the update;
// `threads` >= factors.
LaneCounts count_tree_lanes(const Partition& partition, std::int32_t factors, int threads,
                            ThreadTeam& team);
int tree_rounds(std::int32_t factors);

}  // namespace mf::gpusgd
