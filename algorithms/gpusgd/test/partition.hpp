// The ratings in the order in which the blocks are worked on, made on the host: diagonal by
// diagonal, block by block. What device_arrangement.hpp makes on the device; the same for any
// number of threads.
#pragma once

#include <cstdint>

#include "algorithms/gpusgd/facts.hpp"
#include "algorithms/gpusgd/schedule.hpp"
#include "algorithms/gpusgd/settings.hpp"
#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::gpusgd {

struct Partition {
  Cut cut;
  AlignedVector<Rating> ratings;        // of slot s (slot_of): offsets[s] to offsets[s + 1]
  AlignedVector<std::int64_t> offsets;  // l * l + 1

  std::int64_t slots() const { return std::int64_t{cut.blocks} * cut.blocks; }
  std::int64_t size(std::int64_t slot) const { return offsets[slot + 1] - offsets[slot]; }
  View<Rating> block(std::int64_t slot) { return {ratings.data() + offsets[slot], size(slot)}; }
};

// Ratings of a block by user, then item.
Partition make_partition(const Ratings& train, const Cut& cut, ThreadTeam& team);

// Puts the ratings of each block, those of `train`, into random order, which depends on the seed.
void shuffle_blocks(Partition& partition, const Ratings& train, std::uint64_t seed);

// The groups of all blocks that have a rating: those of slot s are first[s] to first[s + 1] - 1;
// group g is the ratings begins[g] to begins[g + 1] - 1.
struct Groups {
  AlignedVector<std::int64_t> first;   // l * l + 1
  AlignedVector<std::int64_t> begins;  // number of groups + 1
};

// Sorts the ratings of each (square) block by group, then user.
Groups group_blocks(Partition& partition, ThreadTeam& team);

// What an epoch goes through.
struct Arrangement {
  Partition partition;
  Groups groups;  // Scheme::grouped
};
Arrangement arrange(const Settings& settings, const Ratings& train, std::uint64_t seed,
                    ThreadTeam& team);

BlockCounts count_blocks(const Settings& settings, const Arrangement& arrangement);
Json facts_of(const Settings& settings, const Arrangement& arrangement, const Ratings& train);

}  // namespace mf::gpusgd
