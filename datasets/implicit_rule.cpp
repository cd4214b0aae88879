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

// How many of the chunks before each one are kept; then of all.
std::vector<std::int64_t> kept_before(View<const float> values, float least, ThreadTeam& team) {
  const std::int64_t nnz = values.size();
  std::vector<std::int64_t> before(static_cast<std::size_t>((nnz + kChunk - 1) / kChunk + 1), 0);
  team.for_chunks(nnz, kChunk, [&](std::int64_t begin, std::int64_t end) {
    before[static_cast<std::size_t>(begin / kChunk + 1)] = std::count_if(
        values.begin() + begin, values.begin() + end, [&](float value) { return value >= least; });
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  return before;
}

}  // namespace

// As if a file of only the kept ratings were read.
Dataset observed(const Dataset& data, const ImplicitRule& rule, int threads) {
  const Ratings& all = data.ratings;
  const auto least = static_cast<float>(rule.min_rating);
  const bool binary = rule.value == ImplicitValue::binary;
  ThreadTeam team(useful_threads(threads, all.nnz()));
  const std::vector<std::int64_t> before = kept_before(all.values(), least, team);
  const std::int64_t count = before.back();
  if (count == 0) fail_empty(data, least);

  Dataset out;
  out.info = data.info;
  RawRatings raw;
  raw.users.resize(count);
  raw.items.resize(count);
  raw.values.resize(count);
  raw.user_names = all.user_names();
  raw.item_names = all.item_names();
  AlignedVector<std::uint8_t> parts(data.parts.empty() ? 0 : count);
  AlignedVector<RatingTime> times(data.times.empty() ? 0 : count);
  team.for_chunks(all.nnz(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t to = before[static_cast<std::size_t>(begin / kChunk)];
    for (std::int64_t k = begin; k < end; ++k) {
      const Rating rating = all[k];
      if (!(rating.value >= least)) continue;
      raw.users[to] = all.user_ids()[rating.user];
      raw.items[to] = all.item_ids()[rating.item];
      raw.values[to] = binary ? 1.0F : rating.value;
      if (!data.parts.empty()) parts[to] = data.parts.all[k];
      if (!data.times.empty()) times[to] = data.times.all[k];
      ++to;
    }
  });
  out.ratings = make_ratings(std::move(raw), DuplicatePolicy::error, threads, data.info.name);
  out.parts = std::move(parts);
  out.times = std::move(times);
  out.info.content_hash = content_hash(out.ratings, threads);
  const Ratings& kept = out.ratings;
  out.info.implicit = ImplicitInfo{rule, all.nnz() - kept.nnz(), all.n_users() - kept.n_users(),
                                   all.n_items() - kept.n_items()};
  if (binary) out.info.scale.reset();
  return out;
}

}  // namespace mf
