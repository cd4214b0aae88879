#include "datasets/implicit_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 16;

[[noreturn]] void fail_empty(const Dataset& data, float least) {
  const auto values = data.ratings.values();
  const std::string found =
      values.empty()
          ? "no rating at all"
          : fmt::format("{} as the highest", *std::max_element(values.begin(), values.end()));
  fail(ErrorKind::data, "{}: implicit.min_rating {} leaves no rating: found {}; lower it",
       data.info.name, least, found);
}

// How many ratings of the chunks before each one are kept; then of all.
std::vector<std::int64_t> kept_before(View<const float> values, float least, ThreadTeam& team) {
  std::vector<std::int64_t> kept(
      static_cast<std::size_t>((values.size() + kChunk - 1) / kChunk + 1), 0);
  team.for_chunks(values.size(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    kept[static_cast<std::size_t>(begin / kChunk + 1)] = std::count_if(
        values.begin() + begin, values.begin() + end, [&](float value) { return value >= least; });
  });
  std::partial_sum(kept.begin(), kept.end(), kept.begin());
  return kept;
}

}  // namespace

// As a file of the kept ratings alone would be read: users and items are numbered anew, and so are
// names.
Dataset observed(const Dataset& data, const ImplicitRule& rule, int threads) {
  const Ratings& all = data.ratings;
  const auto least = static_cast<float>(rule.min_rating);
  ThreadTeam team(useful_threads(threads, all.nnz()));
  const std::vector<std::int64_t> before = kept_before(all.values(), least, team);
  if (before.back() == 0) fail_empty(data, least);

  Dataset out;
  out.info = data.info;
  RawRatings kept;
  kept.users.resize(before.back());
  kept.items.resize(before.back());
  kept.values.resize(before.back());
  kept.user_names = all.user_names();
  kept.item_names = all.item_names();
  if (!data.parts.empty()) out.parts.resize(before.back());
  team.for_chunks(all.nnz(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t to = before[static_cast<std::size_t>(begin / kChunk)];
    for (std::int64_t k = begin; k < end; ++k) {
      const Rating rating = all[k];
      if (rating.value < least) continue;
      kept.users[to] = all.user_ids()[rating.user];
      kept.items[to] = all.item_ids()[rating.item];
      kept.values[to] = rule.value == ImplicitValue::binary ? 1.0F : rating.value;
      if (!data.parts.empty()) out.parts[to] = data.parts[k];
      ++to;
    }
  });
  out.ratings = make_ratings(std::move(kept), DuplicatePolicy::error, threads, data.info.name);
  out.info.implicit =
      ImplicitInfo{rule, all.nnz() - out.ratings.nnz(), all.n_users() - out.ratings.n_users(),
                   all.n_items() - out.ratings.n_items()};
  if (rule.value == ImplicitValue::binary) out.info.scale.reset();
  out.info.content_hash = content_hash(out.ratings, threads);
  return out;
}

}  // namespace mf
