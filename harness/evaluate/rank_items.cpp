// rank_items: a tile of users against blocks of items, by a product of small register tiles, and of
// each user's scores the best kRanks so far. Scores never leave the first caches.
//
// Blocks have the items with the largest rows first. By |p . q| <= |p| |q|, a user needs no more of
// them once that product is below the kRanks-th score: the scores left out are lower, and finite.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "base/host/isa.hpp"
#include "harness/evaluate/ranking.hpp"
#include "harness/evaluate/top_items.hpp"

namespace mf {
namespace {

constexpr int kItemLanes = 32;    // items of a panel
constexpr int kGroup = 12;        // users whose scores are computed together
constexpr int kTileUsers = 192;   // of a thread; their best scores stay in the level 2 cache
constexpr int kBlockItems = 256;  // of which all scores of a group are computed at a time
static_assert(kBlockItems % kScan == 0);

constexpr double kSureToBeFinite = 1e38;  // no rounding of a sum below it passes the largest float

// The length of a row; infinite unless finite.
float norm_of(const float* row, std::int64_t width) {
  double sum = 0;
  for (std::int64_t k = 0; k < width; ++k) sum += static_cast<double>(row[k]) * row[k];
  const auto norm = static_cast<float>(std::sqrt(sum));
  return std::isfinite(norm) ? norm : std::numeric_limits<float>::infinity();
}

// Panels of kItemLanes items, element k of all of them side by side; zero beyond the last item.
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
    team.for_chunks(blocks() * kBlockItems / kItemLanes, 8,
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
    float* out = panels_.data() + panel * width_ * kItemLanes;
    for (std::int64_t lane = 0; lane < kItemLanes; ++lane) {
      const std::int64_t at = panel * kItemLanes + lane;
      const bool is_item = at < rows.n_items;
      const float* row = rows.items + (is_item ? items_[at] * rows.item_stride : 0);
      for (std::int64_t k = 0; k < width_; ++k) {
        out[k * kItemLanes + lane] = is_item ? row[k] : 0.0F;
      }
    }
  }
  std::int64_t width_, n_items_;
  AlignedVector<std::int32_t> items_, places_;  // in that order, and back
  std::vector<float> norms_;
  AlignedVector<float> panels_;
};

// The first n_users or more of kGroup users, element k of all of them side by side, and a block of
// items; rows of scores are kBlockItems apart.
struct Product {
  const float* users;
  int n_users;
  const float* panels;
  std::int64_t width;
  float* scores;
};

// kUsers x kVectors sums stay in registers.
template <int kBytes, int kUsers, int kVectors>
[[gnu::always_inline]] inline void multiply(const Product of) {
  using Lanes [[gnu::vector_size(kBytes)]] = float;
  constexpr int kWide = kBytes / sizeof(float);
  for (int at = 0; at < kBlockItems; at += kVectors * kWide) {
    const float* items = of.panels + at / kItemLanes * of.width * kItemLanes + at % kItemLanes;
    for (int user = 0; user < of.n_users; user += kUsers) {
      Lanes sum[kUsers][kVectors] = {};
      for (std::int64_t k = 0; k < of.width; ++k) {
        Lanes item[kVectors];
        for (int v = 0; v < kVectors; ++v) {
          std::memcpy(&item[v], items + k * kItemLanes + v * kWide, kBytes);
        }
        for (int u = 0; u < kUsers; ++u) {
          for (int v = 0; v < kVectors; ++v) sum[u][v] += of.users[k * kGroup + user + u] * item[v];
        }
      }
      for (int u = 0; u < kUsers; ++u) {
        float* to = of.scores + (user + u) * kBlockItems + at;
        for (int v = 0; v < kVectors; ++v) std::memcpy(to + v * kWide, &sum[u][v], kBytes);
      }
    }
  }
}

void multiply_plain(const Product of) { multiply<16, 4, 2>(of); }
#ifdef __x86_64__
#define MF_TARGET(isa) __attribute__((target(isa)))
MF_TARGET("avx2,fma") void multiply_avx2(const Product of) { multiply<32, 6, 2>(of); }
MF_TARGET("avx512f") void multiply_avx512(const Product of) { multiply<64, 12, 2>(of); }
#endif

auto choose_multiply() {
#ifdef __x86_64__
  if (has(Isa::avx512)) return multiply_avx512;
  if (has(Isa::avx2)) return multiply_avx2;
#endif
  return multiply_plain;
}

// One thread's tile of users.
class Tile {
 public:
  Tile(const ScoreRows& rows, const RankedUsers& users, const ItemPanels& items)
      : rows_(rows),
        users_(users),
        items_(items),
        packed_(std::int64_t{kGroup} * rows.width, 0.0F),
        scores_(std::int64_t{kGroup} * kBlockItems),
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
      for (std::int64_t at = 0; at < std::ssize(live_); at += kGroup) {
        const auto n = std::min<std::int64_t>(kGroup, std::ssize(live_) - at);
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
    for (std::int64_t u = 0; u < group.size(); ++u) {
      for (std::int64_t k = 0; k < width; ++k) packed_[k * kGroup + u] = group[u]->row[k];
    }
    multiply_({packed_.data(), static_cast<int>(group.size()), items_.of_block(block), width,
               scores_.data()});
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
  const decltype(choose_multiply()) multiply_ = choose_multiply();
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
