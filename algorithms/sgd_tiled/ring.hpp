// Which rank works on which items when, if users are cut over ranks and items travel (DSGD). The
// items are cut into as many blocks as there are ranks, and an epoch has as many rounds. A block is
// worked on whole and then sent, or in two halves: while a rank works on one half, the other is
// under way to the next rank. An epoch may go round in several laps, each with an equal part of the
// chunks of each block: then an item is updated all through the epoch, by users of all ranks in
// turn, as on one device, and not rank after rank.
#pragma once

#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/sgd_tiled/settings.hpp"

namespace mf::sgd_tiled {

inline constexpr int kMostHalves = 2;
inline constexpr int kMostLaps = 4;

// The block of a rank in a round of an epoch, counted from 0. In the next round it is the next
// rank's; after the last one each rank has the block that it began with.
constexpr int block_at(int rank, int round, int ranks) {
  return ((rank - round) % ranks + ranks) % ranks;
}

struct RingShape {
  int ranks = 1;
  std::int64_t items = 0;
  std::int64_t nnz = 0;      // of all ranks
  double row_bytes = 0;      // of an item
  std::int64_t workers = 0;  // one_device_workers
  std::int64_t of_spec = 0;  // workers of each device in the spec; 0: automatic
};

// How many updates a single device may have under way, by lock_free_workers. Only rows of users
// count if updates of items are added: those are never lost.
std::int64_t one_device_workers(const ProblemShape& shape, Writes writes);

// Workers of a device whose blocks are in `halves` parts. Automatic: a device has a part in `ranks`
// of the users, and for each a part in `ranks * halves` of its ratings; so it would have `ranks *
// halves` times as many updates of one user under way as a single device with as many workers. They
// are divided by as much. The same holds of an item.
std::int64_t ring_workers(const RingShape& shape, int halves);

// 1 or 2. Halves hide the exchange, and leave half as many workers: they are taken if they should
// save a twentieth of a round.
int ring_halves(const RingShape& shape);

// Settings::thin_above of a ring. A block, or half, has so many times fewer items than one device,
// and a rank has only their ratings in hand: with as many groups, it holds each item that many
// times as often. Items are thinned until no more groups at a time write one than on one device, or
// than one; than twice as many if their steps together stay short.
//
// n writers move q by about -n rate p p^T q, which diverges as n rate |p|^2 nears 2. |p|^2 is about
// the root mean square of the products that the model learns.
struct RingGroups {
  std::int64_t one_device = 0, rank = 0;  // at once
  std::int64_t parts = 1;                 // ranks * halves
};
std::int64_t ring_thin_above(std::int64_t above, const RingGroups& groups, std::int64_t nnz,
                             double step);  // rate |p|^2 of the first epoch; 0: not known
double ring_step(ModelKind kind, double rate, const RatingLevel& level);

// The estimate of a round, seconds.
double ring_round_s(const RingShape& shape, int halves);

// 1, 2 or kMostLaps: as many as are estimated to make an epoch a fiftieth longer at most.
int ring_laps(const RingShape& shape, int halves);

}  // namespace mf::sgd_tiled
