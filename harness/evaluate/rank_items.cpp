// rank_items: a tile of users against blocks of items, by a product of small register tiles, and of
// each user's scores the best kRanks so far. Scores never leave the caches.
#include <algorithm>
#include <cstring>
#include <limits>

#include "harness/evaluate/clones.hpp"
#include "harness/evaluate/rank_key.hpp"
#include "harness/evaluate/ranking.hpp"

namespace mf {
namespace {

constexpr int kLanes = 16;        // items of a panel
constexpr int kGroup = 6;         // users of a register tile: 6 x 16 sums and their operands fit
constexpr int kTileUsers = 96;    // of a thread's tile; its rows stay in the level 2 cache
constexpr int kBlockItems = 512;  // of which all scores of the tile are computed at a time
constexpr int kCapacity = 512;    // candidates of a user before the worst are dropped
constexpr int kScan = 64;         // scores looked at together
constexpr float kMasked = -std::numeric_limits<float>::infinity();

using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

// Panels of kLanes items, element k of all of them side by side; zero beyond the last item.
class ItemPanels {
 public:
  ItemPanels(const ScoreRows& rows, ThreadTeam& team)
      : width_(rows.width), count_((rows.n_items + kLanes - 1) / kLanes) {
    panels_.resize(count_ * width_ * kLanes);
    team.for_chunks(count_, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t panel = begin; panel < end; ++panel) fill(rows, panel);
    });
  }
  const float* operator[](std::int64_t panel) const {
    return panels_.data() + panel * width_ * kLanes;
  }
  std::int64_t count() const { return count_; }

 private:
  void fill(const ScoreRows& rows, std::int64_t panel) {
    float* out = panels_.data() + panel * width_ * kLanes;
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const std::int64_t item = panel * kLanes + lane;
      const float* row = rows.items + item * rows.item_stride;
      for (std::int64_t k = 0; k < width_; ++k) {
        out[k * kLanes + lane] = item < rows.n_items ? row[k] : 0.0F;
      }
    }
  }
  std::int64_t width_, count_;
  AlignedVector<float> panels_;
};

// Scores of kGroup users, element k of all of them side by side, for `count` panels; rows of scores
// are kBlockItems apart. False where a score is not finite.
MF_CLONES bool multiply(const float* users, const float* panels, std::int64_t width,
                        std::int64_t count, float* scores) {
  Lanes check = {};
  for (std::int64_t panel = 0; panel < count; ++panel) {
    const float* items = panels + panel * width * kLanes;
    Lanes sum[kGroup] = {};
    for (std::int64_t k = 0; k < width; ++k) {
      Lanes item;
      std::memcpy(&item, items + k * kLanes, sizeof(item));
      for (int u = 0; u < kGroup; ++u) sum[u] += users[k * kGroup + u] * item;
    }
    for (int u = 0; u < kGroup; ++u) {
      check += sum[u] - sum[u];  // NaN where it is not finite
      std::memcpy(scores + u * kBlockItems + panel * kLanes, &sum[u], sizeof(Lanes));
    }
  }
  bool finite = true;
  for (int lane = 0; lane < kLanes; ++lane) finite = finite && check[lane] == 0;
  return finite;
}

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

struct Scored {
  float score;
  std::uint32_t place;  // among equal scores
  std::int32_t item;
};
bool goes_first(const Scored& a, const Scored& b) {
  return a.score != b.score ? a.score > b.score : a.place > b.place;
}

// The best kRanks of a user's scores.
class TopItems {
 public:
  void start(TieKey key) {
    key_ = key;
    count_ = 0;
    least_ = std::numeric_limits<float>::lowest();
  }
  void add(const float* scores, std::int64_t count, std::int32_t first_item) {
    for (std::int64_t at = 0; (at = next_from(scores, at, count, least_)) < count; at += kScan) {
      for (int i = 0; i < kScan; ++i) {
        if (!(scores[at + i] >= least_)) continue;
        const std::int32_t item = first_item + static_cast<std::int32_t>(at) + i;
        push({scores[at + i], tie_place(item, key_), item});
      }
    }
  }
  // The best, in order.
  View<const Scored> sorted() {
    drop_worst();
    std::sort(found_, found_ + count_, goes_first);
    return {found_, count_};
  }

 private:
  void push(const Scored& one) {
    found_[count_++] = one;
    if (count_ == kCapacity) drop_worst();
  }
  void drop_worst() {
    if (count_ <= kRanks) return;
    std::nth_element(found_, found_ + kRanks - 1, found_ + count_, goes_first);
    count_ = kRanks;
    least_ = found_[kRanks - 1].score;
  }
  TieKey key_ = 0;
  int count_ = 0;
  float least_ = 0;  // a candidate has no lower score
  Scored found_[kCapacity];
};

// One thread's tile of users.
class Tile {
 public:
  Tile(const ScoreRows& rows, const RankedUsers& users, const ItemPanels& panels)
      : rows_(rows),
        users_(users),
        panels_(panels),
        packed_(std::int64_t{kTileUsers} * rows.width),
        scores_(std::int64_t{kTileUsers} * kBlockItems),
        top_(kTileUsers) {}

  // Users [begin, end), kTileUsers at most.
  void run(std::int64_t begin, std::int64_t end, RankedItems& out, bool& finite,
           AlignedVector<std::int32_t>* top) {
    pack(begin, end);
    for (std::int64_t u = begin; u < end; ++u) top_[u - begin].start(users_.tie_key(u));
    constexpr std::int64_t kPanels = kBlockItems / kLanes;
    for (std::int64_t panel = 0; panel < panels_.count(); panel += kPanels) {
      score_block(panel, std::min(kPanels, panels_.count() - panel), end - begin, finite);
      for (std::int64_t u = begin; u < end; ++u) {
        select(u, u - begin, static_cast<std::int32_t>(panel * kLanes));
      }
    }
    for (std::int64_t u = begin; u < end; ++u) {
      finish(u, top_[u - begin].sorted(), out, top);
    }
  }

 private:
  void pack(std::int64_t begin, std::int64_t end) {
    const std::int64_t width = rows_.width;
    std::fill(packed_.begin(), packed_.end(), 0.0F);
    for (std::int64_t u = 0; u < end - begin; ++u) {
      const float* row = rows_.users[begin + u];
      float* to = packed_.data() + u / kGroup * kGroup * width + u % kGroup;
      for (std::int64_t k = 0; k < width; ++k) to[k * kGroup] = row[k];
    }
  }

  void score_block(std::int64_t panel, std::int64_t count, std::int64_t n_users, bool& finite) {
    for (std::int64_t u = 0; u < n_users; u += kGroup) {
      const bool all = multiply(packed_.data() + u * rows_.width, panels_[panel], rows_.width,
                                count, scores_.data() + u * kBlockItems);
      finite = finite && all;
    }
  }

  void select(std::int64_t user, std::int64_t row, std::int32_t first_item) {
    float* scores = scores_.data() + row * kBlockItems;
    const std::int32_t inside = std::min(kBlockItems, rows_.n_items - first_item);
    const std::int64_t padded = (std::int64_t{inside} + kScan - 1) / kScan * kScan;
    std::fill(scores + inside, scores + padded, kMasked);
    const auto seen = users_.seen[user];
    for (const auto* at = std::lower_bound(seen.begin(), seen.end(), first_item);
         at != seen.end() && *at < first_item + inside; ++at) {
      scores[*at - first_item] = kMasked;
    }
    top_[row].add(scores, padded, first_item);
  }

  void finish(std::int64_t user, View<const Scored> best, RankedItems& out,
              AlignedVector<std::int32_t>* top) const {
    const auto held_out = users_.held_out[user];
    const bool several = best.size() > 1;
    out.tied[user] = several && best[0].score == best[best.size() - 1].score ? 1 : 0;
    for (std::int64_t r = 0; r < best.size(); ++r) {
      if (std::binary_search(held_out.begin(), held_out.end(), best[r].item)) {
        out.hits[user].set(static_cast<int>(r));
      }
      if (top != nullptr) (*top)[user * kRanks + r] = best[r].item;
    }
  }

  const ScoreRows& rows_;
  const RankedUsers& users_;
  const ItemPanels& panels_;
  AlignedVector<float> packed_;  // groups of kGroup users
  AlignedVector<float> scores_;
  std::vector<TopItems> top_;
};

}  // namespace

RankedItems rank_items(const ScoreRows& rows, const RankedUsers& users, ThreadTeam& team,
                       AlignedVector<std::int32_t>* top) {
  RankedItems out;
  out.hits.resize(users.count());
  out.tied.resize(users.count());
  if (top != nullptr) top->assign(users.count() * kRanks, -1);
  const ItemPanels panels(rows, team);
  const std::int64_t tiles = (users.count() + kTileUsers - 1) / kTileUsers;
  std::vector<std::uint8_t> finite(tiles, 1);
  team.for_chunks(tiles, 4, [&](std::int64_t first, std::int64_t last) {
    Tile tile(rows, users, panels);
    for (std::int64_t t = first; t < last; ++t) {
      bool all = true;
      tile.run(t * kTileUsers, std::min((t + 1) * kTileUsers, users.count()), out, all, top);
      finite[t] = all ? 1 : 0;
    }
  });
  out.finite = std::find(finite.begin(), finite.end(), 0) == finite.end();
  return out;
}

}  // namespace mf
