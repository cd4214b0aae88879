#include "datasets/expand/expand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/portable_math.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "datasets/expand/block_shares.hpp"
#include "datasets/expand/kept_pairs.hpp"
#include "datasets/expand/taste_sample.hpp"
#include "datasets/expand/user_habits.hpp"
#include "datasets/synthetic/alias_table.hpp"

namespace mf {
namespace {

using expand::BlockShares;
using expand::KeptPairs;
using expand::TasteSample;
using expand::UserHabits;

void check_count(const char* key, std::int64_t copies, std::int64_t base) {
  if (copies < 1 || copies > kMaxExpansion || copies > base) {
    fail(ErrorKind::usage, "found {} times the {}, expected 1 to {}", copies, key,
         std::min(kMaxExpansion, base));
  }
  if (copies * base > std::numeric_limits<std::int32_t>::max()) {
    fail(ErrorKind::usage, "{} times {} {} are more than can be indexed", copies, base, key);
  }
}

// The copies of one user, one after the other.
class Copier {
 public:
  Copier(const Ratings& base, const KeptPairs& kept, const BlockShares& shares,
         View<const std::int32_t> columns)
      : base_(base), kept_(kept), shares_(shares), columns_(columns) {}

  // Fills a row: copy a of the user. Blocks of items take their parts of the user's ratings in
  // turn, in random order, so that a copy rates two copies of an item only if it keeps more ratings
  // than the user gave.
  void draw(const UserHabits& habits, std::int64_t u, std::int64_t a, Rng rng,
            View<std::int32_t> items, View<float> values) {
    habits.draw_likings(rng, likings_);
    order_.resize(likings_.size());
    std::iota(order_.begin(), order_.end(), 0);
    synthetic::shuffle(order_, rng);
    row_.clear();
    const auto counts = kept_.count_by_block(u, a);
    std::int64_t next = 0;
    for (std::int64_t b = 0; b < shares_.item_blocks(); ++b) {
      take(counts[b], next);
      take_owed(u, a, b);
      const auto rated = base_.items().part(base_.user_offsets()[u], base_.user_offsets()[u + 1]);
      for (const std::int64_t k : taken_) {
        row_.emplace_back(columns_[rated[k] * shares_.item_blocks() + b],
                          habits.draw_value(likings_[k], rng));
      }
    }
    std::sort(row_.begin(), row_.end());
    for (std::int64_t k = 0; k < items.size(); ++k) std::tie(items[k], values[k]) = row_[k];
  }

 private:
  void take(std::int64_t count, std::int64_t& next) {
    taken_.clear();
    for (; count > 0; --count) {
      taken_.push_back(order_[next]);
      next = (next + 1) % std::ssize(order_);
    }
  }

  // Owed pairs that were not taken change places with pairs that are not owed.
  void take_owed(std::int64_t u, std::int64_t a, std::int64_t b) {
    auto free = taken_.begin();  // all before it are owed
    for (const expand::OwedPair& pair : kept_.owed(u)) {
      if (pair.user_block != a || pair.item_block != b) continue;
      const auto found = std::find(free, taken_.end(), pair.place);
      if (found == taken_.end()) {
        *free = pair.place;
      } else {
        std::swap(*free, *found);
      }
      ++free;
    }
  }

  const Ratings& base_;
  const KeptPairs& kept_;
  const BlockShares& shares_;
  View<const std::int32_t> columns_;
  std::vector<double> likings_;
  std::vector<std::int32_t> order_;
  std::vector<std::int64_t> taken_;
  std::vector<std::pair<std::int32_t, float>> row_;
};

// Rows of all copies of all users, in an order by chance.
struct Rows {
  std::vector<std::int32_t> row;  // of copy a of the user u, at u * copies + a
  AlignedVector<std::int64_t> offsets;
};

Rows place_rows(const KeptPairs& kept, std::int64_t users, std::int64_t copies, Rng rng) {
  Rows rows{synthetic::shuffled(users * copies, rng), {}};
  rows.offsets.assign(static_cast<std::size_t>(users * copies + 1), 0);
  for (std::int64_t u = 0; u < users; ++u) {
    for (std::int64_t a = 0; a < copies; ++a) {
      rows.offsets[rows.row[u * copies + a] + 1] = kept.count(u, a);
    }
  }
  std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
  return rows;
}

void draw_ratings(const Ratings& base, const TasteSample& tastes, const KeptPairs& kept,
                  const BlockShares& shares, const Rows& rows, std::uint64_t seed,
                  Ratings::Arrays& out, ThreadTeam& team) {
  constexpr std::uint64_t kFirstCopy = std::uint64_t{1} << 40;
  const std::int64_t copies = shares.user_blocks();
  const auto columns = synthetic::shuffled(base.n_items() * shares.item_blocks(), Rng(seed, 2));
  const std::int64_t chunk = std::clamp<std::int64_t>(base.n_users() / 512, 1, 64);
  team.for_chunks(base.n_users(), chunk, [&](std::int64_t first, std::int64_t last) {
    Copier copier(base, kept, shares, columns);
    for (std::int64_t u = first; u < last; ++u) {
      const UserHabits habits(base, tastes, u);
      for (std::int64_t a = 0; a < copies; ++a) {
        const std::int64_t row = rows.row[u * copies + a];
        const std::int64_t begin = rows.offsets[row], end = rows.offsets[row + 1];
        copier.draw(habits, u, a,
                    Rng(seed, kFirstCopy + static_cast<std::uint64_t>(u * copies + a)),
                    View(out.items).part(begin, end), View(out.values).part(begin, end));
        std::ranges::fill(View(out.users).part(begin, end), static_cast<std::int32_t>(row));
      }
    }
  });
}

}  // namespace

namespace {

void warn_if_sparse(const Dataset& base) {
  constexpr std::int64_t kFew = 10;
  const auto offsets = base.ratings.user_offsets();
  std::int64_t few = 0;
  for (std::int64_t u = 0; u + 1 < offsets.size(); ++u) few += offsets[u + 1] - offsets[u] < kFew;
  if (2 * few > base.ratings.n_users())
    warn(
        "{}: its median user has fewer than {} ratings: an enlargement may rank algorithms "
        "otherwise",
        base.info.name, kFew);
}

}  // namespace

Shape expanded_shape(const Shape& base, const Expansion& how) {
  check_count("users", how.users, base.n_users);
  check_count("items", how.items, base.n_items);
  const std::int64_t all = base.nnz * how.users * how.items;
  const double growth = portable::exp(portable::log(static_cast<double>(how.items)) / 7);
  const auto wanted = std::llround(static_cast<double>(base.nnz * how.users) * growth);
  Shape shape{base.n_users * how.users, base.n_items * how.items, 0};
  // One of each user's copies and one of each item's, at least.
  shape.nnz =
      std::min<std::int64_t>(all, std::max<std::int64_t>(wanted, shape.n_users + shape.n_items));
  return shape;
}

Dataset make_expansion(const Dataset& base, const Expansion& how, int threads) {
  warn_if_sparse(base);
  const Ratings& real = base.ratings;
  const Shape shape = expanded_shape({real.n_users(), real.n_items(), real.nnz()}, how);
  const std::uint64_t seed =
      mix64(how.seed) ^ hash64_of(std::span<const char>(std::string_view("expansion")));
  ThreadTeam team(threads);

  const double blocks = static_cast<double>(how.users) * static_cast<double>(how.items);
  const BlockShares shares(
      real, how.users, how.items,
      static_cast<double>(shape.nnz) / (static_cast<double>(real.nnz()) * blocks));
  const KeptPairs kept(real, shares, shape.nnz, seed);
  const TasteSample tastes = expand::draw_tastes(real, mix64(seed), team);
  Rows rows = place_rows(kept, real.n_users(), how.users, Rng(seed, 1));
  Ratings::Arrays arrays;
  arrays.users.resize(shape.nnz);
  arrays.items.resize(shape.nnz);
  arrays.values.resize(shape.nnz);
  draw_ratings(real, tastes, kept, shares, rows, seed, arrays, team);
  arrays.user_offsets = std::move(rows.offsets);
  arrays.user_ids = synthetic::one_to(shape.n_users);
  arrays.item_ids = synthetic::one_to(shape.n_items);

  Dataset data;
  data.ratings = Ratings(std::move(arrays));
  data.info.name = fmt::format("{} expanded {}x{}", base.info.name, how.users, how.items);
  data.info.look_alike = true;
  data.info.source = "expanded";
  data.info.scale = base.info.scale;
  data.info.content_hash = content_hash(data.ratings, threads);
  return data;
}

}  // namespace mf
