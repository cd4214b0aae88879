// Which device works on which items when, if several devices share cuMF_SGD's blocks. R is cut into
// blocks of users by items. A device keeps its users, with their rows of P and their ratings; the
// items are cut into segments, whose rows of Q go from device to device. In a round every device
// works on one block, all of other users and other items, by batch_hogwild within; an epoch has a
// round for each segment, so that each device meets all of them. The order is drawn anew for each
// epoch, as cuMF_SGD draws its blocks.
#pragma once

#include <cstdint>
#include <vector>

namespace mf::cumf_sgd {

// Rows of Q of a segment, from one device to another.
struct Transfer {
  int segment = 0;
  int from = 0;
  int to = 0;
};

struct Round {
  std::vector<int> segment;  // [rank]: the one that it works on; all differ
  // Transfers that must end before the round. `late` was worked on in the round before, and all of
  // an epoch's first round are; `early` was free then, and may travel during it. For either, a rank
  // gets at most one and sends at most one to each other.
  std::vector<Transfer> early, late;
};

class Rounds {
 public:
  // ranks x per_rank segments, at first rank k has those from k * per_rank on. With two or more a
  // rank, its next segment is free while it works.
  Rounds(int ranks, int per_rank, std::uint64_t seed);

  int segments() const { return ranks_ * per_rank_; }
  int holder(int segment) const { return holder_[segment]; }  // after all epochs planned so far
  std::vector<Round> plan_epoch(std::int64_t epoch);

 private:
  int ranks_, per_rank_;
  std::uint64_t seed_;
  std::vector<int> holder_;
};

struct SegmentShape {
  int ranks = 1;
  std::int64_t items = 0;
  std::int64_t nnz = 0;      // of all ranks
  double row_bytes = 0;      // of an item
  std::int64_t workers = 0;  // of one device
};

// 1 or 2: segments of a rank. Two hide the transfer and leave half as many workers; they are taken
// if one would wait for more than a twentieth of a round.
int segments_of_rank(const SegmentShape& shape);

// Workers of each device. One that has a part in `ranks` of the users, and for each a part in
// `segments` of its ratings, would have as many times more updates of a row under way than one
// device would with as many workers.
std::int64_t workers_of_rank(const SegmentShape& shape, int per_rank);

}  // namespace mf::cumf_sgd
