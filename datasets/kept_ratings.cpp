#include "datasets/kept_ratings.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 16;

// How many of the chunks before each one are kept; then of all.
std::vector<std::int64_t> kept_before(std::int64_t nnz, const Keep& keep, ThreadTeam& team) {
  std::vector<std::int64_t> before(static_cast<std::size_t>((nnz + kChunk - 1) / kChunk + 1), 0);
  team.for_chunks(nnz, kChunk, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::uint8_t> kept(static_cast<std::size_t>(end - begin));
    keep(begin, end, kept.data());
    before[static_cast<std::size_t>(begin / kChunk + 1)] = std::count(kept.begin(), kept.end(), 1);
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  return before;
}

}  // namespace

std::optional<Dataset> kept_ratings(const Dataset& data, const Keep& keep,
                                    std::optional<float> value, int threads) {
  const Ratings& all = data.ratings;
  ThreadTeam team(useful_threads(threads, all.nnz()));
  const std::vector<std::int64_t> before = kept_before(all.nnz(), keep, team);
  const std::int64_t count = before.back();
  if (count == 0) return std::nullopt;

  Dataset out;
  out.info = data.info;
  RawRatings raw;
  raw.users.resize(count);
  raw.items.resize(count);
  raw.values.resize(count);
  raw.user_names = all.user_names();
  raw.item_names = all.item_names();
  if (!data.parts.empty()) out.parts.resize(count);
  AlignedVector<RatingTime> times(data.times.empty() ? 0 : count);
  team.for_chunks(all.nnz(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t to = before[static_cast<std::size_t>(begin / kChunk)];
    std::vector<std::uint8_t> kept(static_cast<std::size_t>(end - begin));
    keep(begin, end, kept.data());
    for (std::int64_t k = begin; k < end; ++k) {
      if (kept[static_cast<std::size_t>(k - begin)] == 0) continue;
      const Rating rating = all[k];
      raw.users[to] = all.user_ids()[rating.user];
      raw.items[to] = all.item_ids()[rating.item];
      raw.values[to] = value.value_or(rating.value);
      if (!data.parts.empty()) out.parts[to] = data.parts[k];
      if (!data.times.empty()) times[to] = data.times.all[k];
      ++to;
    }
  });
  out.ratings = make_ratings(std::move(raw), DuplicatePolicy::error, threads, data.info.name);
  out.times = RatingTimes(std::move(times));
  out.info.content_hash = content_hash(out.ratings, threads);
  return out;
}

Dropped dropped(const Dataset& from, const Dataset& to) {
  return {from.ratings.nnz() - to.ratings.nnz(), from.ratings.n_users() - to.ratings.n_users(),
          from.ratings.n_items() - to.ratings.n_items()};
}

}  // namespace mf
