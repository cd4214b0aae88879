#include "datasets/given_parts.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <span>

#include "base/error.hpp"
#include "base/threads.hpp"

namespace mf {
namespace {

constexpr std::int64_t kChunk = 1 << 16;

// Index of the value in an ascending list, or -1.
std::int64_t index_of(View<const std::int32_t> ascending, std::int32_t value) {
  const auto it = std::lower_bound(ascending.begin(), ascending.end(), value);
  return it != ascending.end() && *it == value ? it - ascending.begin() : -1;
}

// Position of the rating with these original ids, or -1.
std::int64_t position_of(const Ratings& ratings, std::int32_t user_id, std::int32_t item_id) {
  const std::int64_t user = index_of(ratings.user_ids(), user_id);
  const std::int64_t item = index_of(ratings.item_ids(), item_id);
  if (user < 0 || item < 0) return -1;
  const std::int64_t begin = ratings.user_offsets()[user];
  const auto row = ratings.items().part(begin, ratings.user_offsets()[user + 1]);
  const std::int64_t in_row = index_of(row, static_cast<std::int32_t>(item));
  return in_row < 0 ? -1 : begin + in_row;
}

struct Pair {
  std::int32_t user_id;
  std::int32_t item_id;
};

Pair original_ids(const Ratings& ratings, std::int64_t i) {
  const Rating rating = ratings[i];
  return {ratings.user_ids()[rating.user], ratings.item_ids()[rating.item]};
}

void check_disjoint(const GivenPart& a, const GivenPart& b, ThreadTeam& team) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> first{none};  // the smallest position, so that the message is the same
  std::atomic<std::int64_t> count{0};
  team.for_chunks(b.ratings.nnz(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Pair pair = original_ids(b.ratings, i);
      if (position_of(a.ratings, pair.user_id, pair.item_id) < 0) continue;
      ++count;
      for (std::int64_t seen = first; i < seen && !first.compare_exchange_weak(seen, i);) {
      }
    }
  });
  if (first == none) return;
  const Pair pair = original_ids(b.ratings, first);
  fail(ErrorKind::data, "user {}, item {} is in both {} and {} ({} such pair{})", pair.user_id,
       pair.item_id, a.name, b.name, count.load(), count == 1 ? "" : "s");
}

RawRatings concatenate(const std::vector<GivenPart>& parts, ThreadTeam& team) {
  std::int64_t nnz = 0;
  for (const auto& part : parts) nnz += part.ratings.nnz();
  RawRatings raw;
  raw.users.resize(nnz);
  raw.items.resize(nnz);
  raw.values.resize(nnz);
  std::int64_t at = 0;
  for (const auto& part : parts) {
    team.for_chunks(part.ratings.nnz(), kChunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t to = at + i;
        const Pair pair = original_ids(part.ratings, i);
        raw.users[to] = pair.user_id;
        raw.items[to] = pair.item_id;
        raw.values[to] = part.ratings[i].value;
      }
    });
    at += part.ratings.nnz();
  }
  return raw;
}

}  // namespace

JoinedParts join_parts(const std::vector<GivenPart>& parts, int threads, const std::string& name) {
  ThreadTeam team(threads);
  for (std::int64_t i = 0; i < std::ssize(parts); ++i) {
    for (std::int64_t k = i + 1; k < std::ssize(parts); ++k)
      check_disjoint(parts[i], parts[k], team);
  }
  JoinedParts joined;
  joined.ratings = make_ratings(concatenate(parts, team), DuplicatePolicy::error, threads, name);
  joined.labels.resize(joined.ratings.nnz());
  for (const auto& part : parts) {
    team.for_chunks(part.ratings.nnz(), kChunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Pair pair = original_ids(part.ratings, i);
        const std::int64_t position = position_of(joined.ratings, pair.user_id, pair.item_id);
        joined.labels[position] = part.label;
      }
    });
  }
  return joined;
}

}  // namespace mf
