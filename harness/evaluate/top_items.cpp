#include "harness/evaluate/top_items.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>

#include "base/clones.hpp"
#include "base/counted.hpp"

namespace mf {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

// The first position at or after `at`, a multiple of kScan, from which on one of kScan scores is
// not below `least`, nor of a place below least_place: keep[i] says which. `count` if there is
// none.
MF_CLONES std::int64_t next_from(const float* scores, const std::int32_t* items, std::int64_t at,
                                 std::int64_t count, float least, std::uint32_t least_place,
                                 TieKey key, std::uint8_t* keep) {
  for (; at < count; at += kScan) {
    int any = 0;
    for (int i = 0; i < kScan; ++i) any |= scores[at + i] >= least ? 1 : 0;
    if (any == 0) continue;
    any = 0;
    for (int i = 0; i < kScan; ++i) {
      const float score = scores[at + i];
      const bool last = tie_place(items[at + i], key) < least_place;
      const int kept = (score > least ? 1 : 0) | (score == least && !last ? 1 : 0);
      keep[i] = static_cast<std::uint8_t>(kept);
      any |= kept;
    }
    if (any != 0) return at;
  }
  return count;
}

MF_CLONES bool are_finite(const float* x, std::int64_t count) {
  constexpr std::uint32_t kExponent = 0x7f800000U;  // all of it is set if a number is not finite
  int none = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    none |= (std::bit_cast<std::uint32_t>(x[i]) & kExponent) == kExponent ? 1 : 0;
  }
  return none == 0;
}

}  // namespace

bool are_finite(View<const float> scores) { return are_finite(scores.data(), scores.size()); }

void TopItems::start(TieKey key, View<const std::int32_t> seen) {
  seen_ = seen;
  key_ = key;
  count_ = 0;
  least_ = std::numeric_limits<float>::lowest();
  least_place_ = 0;
}

void TopItems::add_unseen(float* scores, View<const std::int32_t> items, std::int64_t first) {
  const std::int64_t padded = (items.size() + kScan - 1) / kScan * kScan;
  std::fill(scores + items.size(), scores + padded, kMasked);
  std::int64_t gone = 0;
  for (; gone < seen_.size() && seen_[gone] < first + items.size(); ++gone) {
    scores[seen_[gone] - first] = kMasked;
  }
  seen_ = seen_.part(gone, seen_.size());
  std::uint8_t keep[kScan];
  for (std::int64_t at = 0;; at += kScan) {
    at = next_from(scores, items.data(), at, padded, least_, least_place_, key_, keep);
    if (at == padded) return;
    for (int part = 0; part < kScan; part += 8) {
      std::uint64_t kept = 0;
      std::memcpy(&kept, keep + part, sizeof(kept));
      for (; kept != 0; kept &= kept - 1) {
        const std::int64_t i = at + part + std::countr_zero(kept) / 8;
        push(rank_key(score_order(scores[i]), items[i], key_));
      }
    }
  }
}

View<const RankKey> TopItems::sorted() {
  drop_worst();
  std::sort(found_, found_ + count_, std::greater());
  return {found_, count_};
}

void TopItems::push(RankKey one) {
  found_[count_++] = one;
  if (count_ == kCapacity) drop_worst();
}

void TopItems::drop_worst() {
  if (count_ <= kRanks) return;
  std::nth_element(found_, found_ + kRanks - 1, found_ + count_, std::greater());
  count_ = kRanks;
  least_ = score_of_order(order_of_key(found_[kRanks - 1]));
  least_place_ = static_cast<std::uint32_t>(found_[kRanks - 1]);
}

RankedItems no_ranks(const RankedUsers& users, AlignedVector<std::int32_t>* top) {
  RankedItems out;
  out.hits.resize(users.count());
  out.tied.resize(users.count());
  if (top != nullptr) top->assign(users.count() * kRanks, -1);
  return out;
}

WatchedWork watched_ranking(const RankedUsers& users) {
  return WatchedWork("the ranking of items for " + counted(users.count(), "user"));
}

void note_best(std::int64_t r, TopItems& best, const RankedUsers& users, RankedItems& out,
               AlignedVector<std::int32_t>* top) {
  const auto held_out = users.held_out[r];
  const auto keys = best.sorted();
  const bool several = keys.size() > 1;
  out.tied[r] = several && order_of_key(keys.front()) == order_of_key(keys.back()) ? 1 : 0;
  for (std::int64_t rank = 0; rank < keys.size(); ++rank) {
    const std::int32_t item = item_of_key(keys[rank], best.key());
    if (std::binary_search(held_out.begin(), held_out.end(), item)) {
      out.hits[r].set(static_cast<int>(rank));
    }
    if (top != nullptr) (*top)[r * kRanks + rank] = item;
  }
}

}  // namespace mf
