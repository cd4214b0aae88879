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

struct Scored {
  float score;
  std::uint32_t place;  // among equal scores
  std::int32_t item;
};

class TopItems {
 public:
  void start(TieKey key);
  // For the items first, first + 1, ... without the items of `seen`, which ascend. `scores` has
  // room up to a multiple of kScan; scores of left-out items are overwritten.
  void add_unseen(float* scores, std::int64_t count, std::int32_t first,
                  View<const std::int32_t> seen);
  // The best, in order.
  View<const Scored> sorted();

 private:
  static constexpr int kCapacity = 512;  // candidates before the worst are dropped

  void push(const Scored& one);
  void drop_worst();

  TieKey key_ = 0;
  int count_ = 0;
  // A candidate has no lower score than this, and with this score no lower place.
  float least_ = 0;
  std::uint32_t least_place_ = 0;
  Scored found_[kCapacity];
};

// For all users, before any has been ranked.
RankedItems no_ranks(const RankedUsers& users, AlignedVector<std::int32_t>* top);

// Asked before each piece of work on the users.
WatchedWork watched_ranking(const RankedUsers& users);

// For the ranked user `r`; `top` as in rank_items().
void note_best(std::int64_t r, View<const Scored> best, const RankedUsers& users, RankedItems& out,
               AlignedVector<std::int32_t>* top);

}  // namespace mf
