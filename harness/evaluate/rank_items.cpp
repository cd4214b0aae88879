// rank_items: a tile of users against blocks of items, by a product of small register tiles, and of
// each user's scores the best kRanks so far. Scores never leave the first caches.
//
// Blocks have the items with the largest rows first. By |p . q| <= |p| |q|, a user needs no more of
// them once that product is below the kRanks-th score: the scores left out are lower, and finite.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>

#include "algorithms/core/tile_product.hpp"
#include "harness/evaluate/ranking.hpp"
#include "harness/evaluate/top_items.hpp"

namespace mf {
namespace {

constexpr int kTileUsers = 192;   // of a thread; their best scores stay in the level 2 cache
constexpr int kBlockItems = 256;  // of which all scores of some users are computed at a time
static_assert(kBlockItems % kScan == 0);

constexpr double kSureToBeFinite = 1e38;  // no rounding of a sum below it passes the largest float

// The length of a row; infinite unless finite.
float norm_of(const float* row, std::int64_t width) {
  double sum = 0;
  for (std::int64_t k = 0; k < width; ++k) sum += static_cast<double>(row[k]) * row[k];
  const auto norm = static_cast<float>(std::sqrt(sum));
  return std::isfinite(norm) ? norm : std::numeric_limits<float>::infinity();
}

// Panels of kPanelLanes items, element k of all of them side by side; zero beyond the last item.
class ItemPanels {
 public:
  ItemPanels(const ScoreRows& rows, ThreadTeam& team)
      : width_(rows.width), n_items_(rows.n_items), places_(n_items_) {
    AlignedVector<RankKey> keys(rows.n_items);
    team.for_chunks(rows.n_items, 256, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        const float norm = norm_of(rows.items + i * rows.item_stride, width_);
        keys[i] = first_key(score_order(norm)) | static_cast<std::uint32_t>(i);
      }
    });
    std::sort(keys.begin(), keys.end(), std::greater());
    items_.resize(blocks() * kBlockItems, 0);
    for (std::int64_t at = 0; at < rows.n_items; ++at) {
      items_[at] = static_cast<std::int32_t>(keys[at]);
      places_[items_[at]] = static_cast<std::int32_t>(at);
      if (at % kBlockItems == 0) norms_.push_back(score_of_order(order_of_key(keys[at])));
    }
    panels_.resize(blocks() * kBlockItems * width_);
    team.for_chunks(blocks() * kBlockItems / kPanelLanes, 8,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t panel = begin; panel < end; ++panel) fill(rows, panel);
                    });
  }
  std::int64_t blocks() const { return (n_items_ + kBlockItems - 1) / kBlockItems; }
  const float* of_block(std::int64_t block) const {
    return panels_.data() + block * kBlockItems * width_;
  }
  // The largest norm from here on.
  double norm(std::int64_t block) const { return norms_[block]; }
  View<const std::int32_t> items(std::int64_t block) const {
    const std::int64_t first = block * kBlockItems;
    return View<const std::int32_t>(items_).part(first, std::min(first + kBlockItems, n_items_));
  }
  std::int32_t place_of(std::int32_t item) const { return places_[item]; }

 private:
  void fill(const ScoreRows& rows, std::int64_t panel) {
    float* out = panels_.data() + panel * width_ * kPanelLanes;
    for (std::int64_t lane = 0; lane < kPanelLanes; ++lane) {
      const std::int64_t at = panel * kPanelLanes + lane;
      const bool is_item = at < rows.n_items;
      const float* row = rows.items + (is_item ? items_[at] * rows.item_stride : 0);
      for (std::int64_t k = 0; k < width_; ++k) {
        out[k * kPanelLanes + lane] = is_item ? row[k] : 0.0F;
      }
    }
  }
  std::int64_t width_, n_items_;
  AlignedVector<std::int32_t> items_, places_;  // in that order, and back
  std::vector<float> norms_;
  AlignedVector<float> panels_;
};

// One thread's tile of users.
class Tile {
 public:
  Tile(const ScoreRows& rows, const RankedUsers& users, const ItemPanels& items)
      : rows_(rows),
        users_(users),
        items_(items),
        packed_(kTileRows * (rows.width + 16), 0.0F),
        scores_(std::int64_t{kTileRows} * kBlockItems),
        all_(kTileUsers) {}

  // Users [begin, end), kTileUsers at most. Returns whether all scores are finite.
  bool run(std::int64_t begin, std::int64_t end, RankedItems& out,
           AlignedVector<std::int32_t>* top) {
    start(begin, end);
    bool finite = true;
    for (std::int64_t block = 0; block < items_.blocks() && !live_.empty(); ++block) {
      std::erase_if(live_, [&](const User* one) {
        return one->norm * items_.norm(block) * slack_ + kTiny < one->top.least();
      });
      for (std::int64_t at = 0; at < std::ssize(live_); at += kTileRows) {
        const auto n = std::min<std::int64_t>(kTileRows, std::ssize(live_) - at);
        finite = score(block, {live_.data() + at, n}) && finite;
      }
    }
    for (std::int64_t r = begin; r < end; ++r) note_best(r, all_[r - begin].top, users_, out, top);
    return finite;
  }

 private:
  struct User {
    const float* row;
    double norm;
    TopItems top;
  };

  void start(std::int64_t begin, std::int64_t end) {
    seen_.resize(users_.seen.offsets[end] - users_.seen.offsets[begin]);
    std::int32_t* to = seen_.data();
    live_.clear();
    for (std::int64_t r = begin; r < end; ++r) {
      User& one = all_[r - begin];
      one.row = rows_.users[r];
      one.norm = norm_of(one.row, rows_.width);
      std::int32_t* const first = to;
      for (const auto item : users_.seen[r]) *to++ = items_.place_of(item);
      std::sort(first, to);
      one.top.start(users_.tie_key(r), {first, to - first});
      live_.push_back(&one);
    }
  }

  bool score(std::int64_t block, View<User* const> group) {
    const std::int64_t width = rows_.width;
    const std::int64_t apart = width + 16;  // rows a power of two apart would share cache sets
    for (std::int64_t u = 0; u < group.size(); ++u) {
      std::copy_n(group[u]->row, width, packed_.data() + u * apart);
    }
    multiply_({packed_.data(), apart, 1, items_.of_block(block), width,
               static_cast<int>(group.size()), kBlockItems, scores_.data(), kBlockItems});
    const auto items = items_.items(block);
    bool finite = true;
    for (std::int64_t u = 0; u < group.size(); ++u) {
      float* scores = scores_.data() + u * kBlockItems;
      if (!(group[u]->norm * items_.norm(block) < kSureToBeFinite)) {
        finite = are_finite({scores, items.size()}) && finite;
      }
      group[u]->top.add_unseen(scores, items, block * kBlockItems);
    }
    return finite;
  }

  const ScoreRows& rows_;
  const RankedUsers& users_;
  const ItemPanels& items_;
  // A score that is computed exceeds the product of the norms by less than this, relatively, or by
  // kTiny.
  static constexpr double kTiny = 1e-38;
  const double slack_ = 1 + 2e-7 * (rows_.width + 8.0);
  const TileMultiply multiply_ = choose_tile_multiply();
  AlignedVector<float> packed_, scores_;  // of a group of users
  AlignedVector<std::int32_t> seen_;
  std::vector<User> all_;
  std::vector<User*> live_;  // who need more items
};

}  // namespace

RankedItems rank_items(const ScoreRows& rows, const RankedUsers& users, ThreadTeam& team,
                       AlignedVector<std::int32_t>* top) {
  RankedItems out = no_ranks(users, top);
  const ItemPanels items(rows, team);
  const std::int64_t tiles = (users.count() + kTileUsers - 1) / kTileUsers;
  std::atomic<bool> finite = true;
  WatchedWork work = watched_ranking(users);
  team.for_chunks(tiles, 1, [&](std::int64_t t, std::int64_t) {
    if (!work.goes_on()) return;
    const std::int64_t end = std::min((t + 1) * kTileUsers, users.count());
    if (!Tile(rows, users, items).run(t * kTileUsers, end, out, top)) finite = false;
  });
  out.finite = finite;
  return out;
}

}  // namespace mf
