// The best kRanks of a user's scores, and notes on them; on the host.
#pragma once

#include <cstdint>

#include "base/aligned.hpp"
#include "base/view.hpp"
#include "base/wait.hpp"
#include "harness/evaluate/rank_key.hpp"
#include "harness/evaluate/ranking.hpp"

namespace mf {

inline constexpr int kScan = 64;  // scores looked at together

bool are_finite(View<const float> scores);

// Scores come in blocks of positions, which ascend. Which item is at a position is the caller's
// choice, and the best items do not depend on it.
class TopItems {
 public:
  // `seen` has the positions that are left out, which ascend; it must live as long as they come.
  void start(TieKey key, View<const std::int32_t> seen);
  // Of the positions first, first + 1, ..., one for each of `items`. `scores` and `items` have room
  // up to a multiple of kScan; scores of left-out items are overwritten.
  void add_unseen(float* scores, View<const std::int32_t> items, std::int64_t first);
  // No score below this is among the best.
  float least() const { return least_; }
  // The best, in order.
  View<const RankKey> sorted();
  TieKey key() const { return key_; }

 private:
  static constexpr int kCapacity = 256;  // candidates before the worst are dropped

  void push(RankKey one);
  void drop_worst();

  View<const std::int32_t> seen_;  // the positions to come
  TieKey key_ = 0;
  int count_ = 0;
  // A candidate has no lower score than this, and with this score no lower place.
  float least_ = 0;
  std::uint32_t least_place_ = 0;
  RankKey found_[kCapacity];
};

// For all users, before any has been ranked.
RankedItems no_ranks(const RankedUsers& users, AlignedVector<std::int32_t>* top);

// Asked before each piece of work on the users.
WatchedWork watched_ranking(const RankedUsers& users);

// For the ranked user `r`; `top` as in rank_items().
void note_best(std::int64_t r, TopItems& best, const RankedUsers& users, RankedItems& out,
               AlignedVector<std::int32_t>* top);

}  // namespace mf
