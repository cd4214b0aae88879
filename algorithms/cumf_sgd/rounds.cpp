#include "algorithms/cumf_sgd/rounds.hpp"

#include <algorithm>

#include "algorithms/core/random.hpp"

namespace mf::cumf_sgd {
namespace {

// Four H200 by NVLink, as in sgd_tiled's ring. A worker's rate is cuMF_SGD's with 2,112 of them,
// 2.75 G updates a second; a device's highest rate is from NOTES.md, f = 128 in fp16.
constexpr double kLatency = 20e-6;          // seconds
constexpr double kLink = 150e9;             // bytes a second
constexpr double kUpdatesOfWorker = 1.3e6;  // a second
constexpr double kMostUpdates = 4e9;        // a second
constexpr double kWorthWaiting = .05;       // of a round

constexpr std::uint64_t kRoundSalt = 0x726f756e6473ULL;

}  // namespace

Rounds::Rounds(int ranks, int per_rank, std::uint64_t seed)
    : ranks_(ranks), per_rank_(per_rank), seed_(seed ^ kRoundSalt) {
  for (int segment = 0; segment < segments(); ++segment) holder_.push_back(segment / per_rank);
}

// Segments stand on a circle, in the order of the epoch, and the ranks at even distances; all go on
// by one a round. So no two are on a segment, and a rank comes to the place where the next one was
// `per_rank` rounds before.
std::vector<Round> Rounds::plan_epoch(std::int64_t epoch) {
  const int count = segments();
  const Permutation order = epoch_order(count, seed_, epoch);
  std::vector<int> last_round(count, -1);  // before the first: at the end of the last epoch
  std::vector<Round> rounds;
  for (int number = 0; number < count; ++number) {
    Round round;
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto segment = static_cast<int>(order((number + rank * per_rank_) % count));
      round.segment.push_back(segment);
      if (holder_[segment] == rank) continue;
      auto& when = last_round[segment] + 1 < number ? round.early : round.late;
      when.push_back({segment, holder_[segment], rank});
    }
    for (int rank = 0; rank < ranks_; ++rank) {
      holder_[round.segment[rank]] = rank;
      last_round[round.segment[rank]] = number;
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

std::int64_t workers_of_rank(const SegmentShape& shape, int per_rank) {
  return std::max<std::int64_t>(1, shape.workers / (std::int64_t{shape.ranks} * per_rank));
}

int segments_of_rank(const SegmentShape& shape) {
  const double ranks = shape.ranks;
  const double updates = static_cast<double>(shape.nnz) / (ranks * ranks);
  const double rate =
      std::min(kMostUpdates, kUpdatesOfWorker * static_cast<double>(workers_of_rank(shape, 1)));
  const double bytes = static_cast<double>(shape.items) * shape.row_bytes / ranks;
  return kLatency + bytes / kLink > kWorthWaiting * updates / rate ? 2 : 1;
}

}  // namespace mf::cumf_sgd
