#include "harness/evaluate/top_items.hpp"

#include <algorithm>
#include <limits>

#include "base/clones.hpp"
#include "base/counted.hpp"

namespace mf {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

// The first of the scores at or after `at`, a multiple of kScan, that are not below `least`, to
// kScan; `count` is a multiple, too.
MF_CLONES std::int64_t next_from(const float* scores, std::int64_t at, std::int64_t count,
                                 float least) {
  for (; at < count; at += kScan) {
    int any = 0;
    for (int i = 0; i < kScan; ++i) any |= scores[at + i] >= least ? 1 : 0;
    if (any != 0) return at;
  }
  return count;
}

bool goes_first(const Scored& a, const Scored& b) {
  return a.score != b.score ? a.score > b.score : a.place > b.place;
}

}  // namespace

void TopItems::start(TieKey key) {
  key_ = key;
  count_ = 0;
  least_ = std::numeric_limits<float>::lowest();
  least_place_ = 0;
}

void TopItems::add_unseen(float* scores, std::int64_t count, std::int32_t first,
                          View<const std::int32_t> seen) {
  const std::int64_t padded = (count + kScan - 1) / kScan * kScan;
  std::fill(scores + count, scores + padded, kMasked);
  for (const auto* one = std::lower_bound(seen.begin(), seen.end(), first);
       one != seen.end() && *one < first + count; ++one) {
    scores[*one - first] = kMasked;
  }
  for (std::int64_t at = 0; (at = next_from(scores, at, padded, least_)) < padded; at += kScan) {
    for (int i = 0; i < kScan; ++i) {
      if (!(scores[at + i] >= least_)) continue;
      const std::int32_t item = first + static_cast<std::int32_t>(at) + i;
      const std::uint32_t place = tie_place(item, key_);
      if (scores[at + i] == least_ && place < least_place_) continue;
      push({scores[at + i], place, item});
    }
  }
}

View<const Scored> TopItems::sorted() {
  drop_worst();
  std::sort(found_, found_ + count_, goes_first);
  return {found_, count_};
}

void TopItems::push(const Scored& one) {
  found_[count_++] = one;
  if (count_ == kCapacity) drop_worst();
}

void TopItems::drop_worst() {
  if (count_ <= kRanks) return;
  std::nth_element(found_, found_ + kRanks - 1, found_ + count_, goes_first);
  count_ = kRanks;
  least_ = found_[kRanks - 1].score;
  least_place_ = found_[kRanks - 1].place;
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

void note_best(std::int64_t r, View<const Scored> best, const RankedUsers& users, RankedItems& out,
               AlignedVector<std::int32_t>* top) {
  const auto held_out = users.held_out[r];
  const bool several = best.size() > 1;
  out.tied[r] = several && best[0].score == best[best.size() - 1].score ? 1 : 0;
  for (std::int64_t rank = 0; rank < best.size(); ++rank) {
    if (std::binary_search(held_out.begin(), held_out.end(), best[rank].item)) {
      out.hits[r].set(static_cast<int>(rank));
    }
    if (top != nullptr) (*top)[r * kRanks + rank] = best[rank].item;
  }
}

}  // namespace mf
