// rank_items: a tile of users against blocks of items, by a product of small register tiles, and of
// each user's scores the best kRanks so far. Scores never leave the caches.
#include <algorithm>
#include <cstring>

#include "base/clones.hpp"
#include "harness/evaluate/ranking.hpp"
#include "harness/evaluate/top_items.hpp"

namespace mf {
namespace {

constexpr int kItemLanes = 16;    // items of a panel
constexpr int kGroup = 6;         // users of a register tile: 6 x 16 sums and their operands fit
constexpr int kTileUsers = 96;    // of a thread's tile; its rows stay in the level 2 cache
constexpr int kBlockItems = 512;  // of which all scores of the tile are computed at a time
static_assert(kBlockItems % kScan == 0);

using Lanes = float __attribute__((vector_size(kItemLanes * sizeof(float))));

// Panels of kItemLanes items, element k of all of them side by side; zero beyond the last item.
class ItemPanels {
 public:
  ItemPanels(const ScoreRows& rows, ThreadTeam& team)
      : width_(rows.width), count_((rows.n_items + kItemLanes - 1) / kItemLanes) {
    panels_.resize(count_ * width_ * kItemLanes);
    team.for_chunks(count_, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t panel = begin; panel < end; ++panel) fill(rows, panel);
    });
  }
  const float* operator[](std::int64_t panel) const {
    return panels_.data() + panel * width_ * kItemLanes;
  }
  std::int64_t count() const { return count_; }

 private:
  void fill(const ScoreRows& rows, std::int64_t panel) {
    float* out = panels_.data() + panel * width_ * kItemLanes;
    for (std::int64_t lane = 0; lane < kItemLanes; ++lane) {
      const std::int64_t item = panel * kItemLanes + lane;
      const float* row = rows.items + item * rows.item_stride;
      for (std::int64_t k = 0; k < width_; ++k) {
        out[k * kItemLanes + lane] = item < rows.n_items ? row[k] : 0.0F;
      }
    }
  }
  std::int64_t width_, count_;
  AlignedVector<float> panels_;
};

// Scores of kGroup users, element k of all of them side by side, for `count` panels; rows of scores
// are kBlockItems apart. False if a score is not finite.
MF_CLONES bool multiply(const float* users, const float* panels, std::int64_t width,
                        std::int64_t count, float* scores) {
  Lanes check = {};
  for (std::int64_t panel = 0; panel < count; ++panel) {
    const float* items = panels + panel * width * kItemLanes;
    Lanes sum[kGroup] = {};
    for (std::int64_t k = 0; k < width; ++k) {
      Lanes item;
      std::memcpy(&item, items + k * kItemLanes, sizeof(item));
      for (int u = 0; u < kGroup; ++u) sum[u] += users[k * kGroup + u] * item;
    }
    for (int u = 0; u < kGroup; ++u) {
      check += sum[u] - sum[u];  // NaN where it is not finite
      std::memcpy(scores + u * kBlockItems + panel * kItemLanes, &sum[u], sizeof(Lanes));
    }
  }
  bool finite = true;
  for (int lane = 0; lane < kItemLanes; ++lane) finite = finite && check[lane] == 0;
  return finite;
}

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
    constexpr std::int64_t kPanels = kBlockItems / kItemLanes;
    for (std::int64_t panel = 0; panel < panels_.count(); panel += kPanels) {
      score_block(panel, std::min(kPanels, panels_.count() - panel), end - begin, finite);
      for (std::int64_t u = begin; u < end; ++u) {
        const std::int64_t first = panel * kItemLanes;
        top_[u - begin].add_unseen(scores_.data() + (u - begin) * kBlockItems,
                                   std::min<std::int64_t>(kBlockItems, rows_.n_items - first),
                                   static_cast<std::int32_t>(first), users_.seen[u]);
      }
    }
    for (std::int64_t u = begin; u < end; ++u) {
      note_best(u, top_[u - begin].sorted(), users_, out, top);
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
  RankedItems out = no_ranks(users, top);
  const ItemPanels panels(rows, team);
  const std::int64_t tiles = (users.count() + kTileUsers - 1) / kTileUsers;
  std::vector<std::uint8_t> finite(tiles, 1);
  WatchedWork work = watched_ranking(users);
  team.for_chunks(tiles, 4, [&](std::int64_t first, std::int64_t last) {
    Tile tile(rows, users, panels);
    for (std::int64_t t = first; t < last && work.goes_on(); ++t) {
      bool all = true;
      tile.run(t * kTileUsers, std::min((t + 1) * kTileUsers, users.count()), out, all, top);
      finite[t] = all ? 1 : 0;
    }
  });
  out.finite = std::find(finite.begin(), finite.end(), 0) == finite.end();
  return out;
}

}  // namespace mf
