// Which rank works on which items when, where users are cut over ranks and items travel (DSGD). The
// items are cut into as many blocks as there are ranks, each in two halves: while a rank works on
// one half, the other is under way to the next rank. An epoch has as many rounds as ranks.
#pragma once

namespace mf::sgd_tiled {

inline constexpr int kHalves = 2;

// The block of a rank in a round of an epoch, counted from 0. In the next round it is the next
// rank's; after the last one each rank has the block that it began with.
constexpr int block_at(int rank, int round, int ranks) {
  return ((rank - round) % ranks + ranks) % ranks;
}

}  // namespace mf::sgd_tiled
