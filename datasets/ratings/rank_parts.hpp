// A part of a split whose ratings lie with the ranks by their users: moved to the ranks that
// evaluate it.
#pragma once

#include "base/ranks/communicator.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

// `parts`: the offsets at which each rank's ratings begin, and the end of the last; `users`: the
// same of its rows. All ranks together.

// The ratings of the blocks of this rank (rank_blocks.hpp).
Ratings ratings_of_blocks(const Ratings& own, const PartOffsets& parts, std::int64_t block,
                          Communicator& ranks, ThreadTeam& team);

// Rank 0 gets the ratings of all, the others none. They are sent packed, a third of their bytes.
Ratings ratings_on_rank_0(const Ratings& own, const PartOffsets& users, const PartOffsets& parts,
                          Communicator& ranks, ThreadTeam& team);

}  // namespace mf
