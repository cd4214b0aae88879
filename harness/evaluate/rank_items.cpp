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

constexpr int kTileUsers = 192;   // of a tile, at most; their best scores stay in the level 2 cache
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

// The longest rows first, in panels of kPanelLanes items; zero beyond the last item.
struct SortedItems {
  SortedItems(const ScoreRows& rows, ThreadTeam& team) : places(rows.n_items) {
    AlignedVector<RankKey> keys(rows.n_items);
    team.for_chunks(rows.n_items, 256, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        const float norm = norm_of(rows.items + i * rows.item_stride, rows.width);
        keys[i] = first_key(score_order(norm)) | static_cast<std::uint32_t>(i);
      }
    });
    std::sort(keys.begin(), keys.end(), std::greater());
    for (std::int64_t at = 0; at < rows.n_items; ++at) {
      order.push_back(static_cast<std::int32_t>(keys[at]));
      places[order.back()] = static_cast<std::int32_t>(at);
      if (at % kBlockItems == 0) norms.push_back(score_of_order(order_of_key(keys[at])));
    }
    order.resize(std::ssize(norms) * kBlockItems, 0);
    panels.resize(std::ssize(order) * rows.width);
    std::fill(panels.begin() + rows.n_items / kPanelLanes * kPanelLanes * rows.width, panels.end(),
              0.0F);
    team.for_chunks(rows.n_items, kPanelLanes, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at) {
        const float* row = rows.items + order[at] * rows.item_stride;
        float* to = panels.data() + begin * rows.width + at - begin;
        for (std::int64_t k = 0; k < rows.width; ++k) to[k * kPanelLanes] = row[k];
      }
    });
  }
  View<const std::int32_t> of_block(std::int64_t block) const {
    const std::int64_t first = block * kBlockItems;
    return View<const std::int32_t>(order).part(first,
                                                std::min(first + kBlockItems, std::ssize(places)));
  }

  AlignedVector<std::int32_t> order, places;  // the item at a place, the place of an item
  std::vector<double> norms;                  // of a block and all behind it, the largest
  AlignedVector<float> panels;
};

// One thread's tile of users.
class Tile {
 public:
  Tile(const ScoreRows& rows, const RankedUsers& users, const SortedItems& items)
      : rows_(rows), users_(users), items_(items), packed_(kTileRows * apart_, 0.0F) {}

  // Users [begin, end), kTileUsers at most. Returns whether all scores are finite.
  bool run(std::int64_t begin, std::int64_t end, RankedItems& out,
           AlignedVector<std::int32_t>* top) {
    start(begin, end);
    bool finite = true;
    for (std::int64_t block = 0; block < std::ssize(items_.norms) && !live_.empty(); ++block) {
      std::erase_if(live_, [&](const User* one) {
        return one->norm * items_.norms[block] * slack_ + kTiny < one->top.least();
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
      for (const auto item : users_.seen[r]) *to++ = items_.places[item];
      std::sort(first, to);
      one.top.start(users_.tie_key(r), {first, to - first});
      live_.push_back(&one);
    }
  }

  bool score(std::int64_t block, View<User* const> group) {
    const std::int64_t width = rows_.width, first = block * kBlockItems;
    for (std::int64_t u = 0; u < group.size(); ++u) {
      std::copy_n(group[u]->row, width, packed_.data() + u * apart_);
    }
    multiply_({packed_.data(), apart_, 1, items_.panels.data() + first * width, width,
               static_cast<int>(group.size()), kBlockItems, scores_.data(), kBlockItems});
    const auto items = items_.of_block(block);
    bool finite = true;
    for (std::int64_t u = 0; u < group.size(); ++u) {
      float* scores = scores_.data() + u * kBlockItems;
      if (!(group[u]->norm * items_.norms[block] < kSureToBeFinite)) {
        finite = are_finite({scores, items.size()}) && finite;
      }
      group[u]->top.add_unseen(scores, items, first);
    }
    return finite;
  }

  const ScoreRows& rows_;
  const RankedUsers& users_;
  const SortedItems& items_;
  // A score that is computed exceeds the product of the norms by less than this, relatively, or by
  // kTiny.
  static constexpr double kTiny = 1e-38;
  const double slack_ = 1 + 2e-7 * (rows_.width + 8.0);
  const TileMultiply multiply_ = choose_tile_multiply();
  const std::int64_t apart_ = rows_.width + 16;  // a power of two would share cache sets
  AlignedVector<float> packed_;                  // rows of the users who are scored together
  AlignedVector<float> scores_ = AlignedVector<float>(kTileRows * kBlockItems);
  AlignedVector<std::int32_t> seen_;
  std::vector<User> all_ = std::vector<User>(kTileUsers);
  std::vector<User*> live_;  // who need more items
};

}  // namespace

RankedItems rank_items(const ScoreRows& rows, const RankedUsers& users, ThreadTeam& team,
                       AlignedVector<std::int32_t>* top) {
  RankedItems out = no_ranks(users, top);
  const SortedItems items(rows, team);
  std::atomic<bool> finite = true;
  WatchedWork work = watched_ranking(users);
  const auto share = users.count() / (4 * team.size());  // so that all threads end together
  const auto tile = std::clamp<std::int64_t>(share, kTileRows, kTileUsers);
  team.for_chunks(users.count(), tile, [&](std::int64_t begin, std::int64_t end) {
    if (!work.goes_on()) return;
    if (!Tile(rows, users, items).run(begin, end, out, top)) finite = false;
  });
  out.finite = finite;
  return out;
}

}  // namespace mf
