#include "datasets/split/given_parts.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/threads.hpp"

namespace mf {
namespace {

constexpr std::int64_t kGivenChunk = 1 << 16;

// Index of the value in an ascending list, or -1.
std::int64_t index_of(View<const std::int32_t> ascending, std::int32_t value) {
  const auto it = std::lower_bound(ascending.begin(), ascending.end(), value);
  return it != ascending.end() && *it == value ? it - ascending.begin() : -1;
}

// Position of the rating with these indices, or -1 (also if one of them is).
std::int64_t position_in_row(const Ratings& ratings, std::int64_t user, std::int64_t item) {
  if (user < 0 || item < 0) return -1;
  const std::int64_t begin = ratings.user_offsets()[user];
  const auto row = ratings.items().part(begin, ratings.user_offsets()[user + 1]);
  const std::int64_t in_row = index_of(row, static_cast<std::int32_t>(item));
  return in_row < 0 ? -1 : begin + in_row;
}

// The ids of one side that all parts share: integers unchanged, or rows of the names of all.
struct UnitedIds {
  IdNames names;
  std::vector<AlignedVector<std::int32_t>> of_part;  // of its rows, ascending
};

const IdNames& names_of(const Ratings& ratings, bool users) {
  return users ? ratings.user_names() : ratings.item_names();
}

void check_same_kind(const std::vector<GivenPart>& parts, bool users) {
  for (const auto& part : parts) {
    const bool text = !names_of(part.ratings, users).empty();
    if (text != names_of(parts[0].ratings, users).empty()) continue;
    const auto& numbers = text ? parts[0] : part;
    const auto& names = text ? part : parts[0];
    fail(ErrorKind::data,
         "{}: the {} ids are integers, but text in {}; expected one kind in all parts: set ids to "
         "\"text\"",
         numbers.name, users ? "user" : "item", names.name);
  }
}

// The names of all parts, ascending, each once.
IdNames all_names(const std::vector<GivenPart>& parts, bool users) {
  std::vector<std::string_view> all;
  for (const auto& part : parts) {
    const IdNames& own = names_of(part.ratings, users);
    const auto middle = std::ssize(all);
    for (std::int64_t row = 0; row < own.size(); ++row) all.push_back(own[row]);
    std::inplace_merge(all.begin(), all.begin() + middle, all.end());
  }
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return IdNames(all);
}

UnitedIds unite_ids(const std::vector<GivenPart>& parts, bool users) {
  check_same_kind(parts, users);
  UnitedIds shared{all_names(parts, users), {}};
  for (const auto& part : parts) {
    const auto own = users ? part.ratings.user_ids() : part.ratings.item_ids();
    auto& ids = shared.of_part.emplace_back(own.begin(), own.end());
    if (shared.names.empty()) continue;
    const IdNames& names = names_of(part.ratings, users);
    for (std::int64_t row = 0; row < names.size(); ++row) {
      ids[row] = static_cast<std::int32_t>(shared.names.find(names[row]));
    }
  }
  return shared;
}

struct Pair {
  std::int32_t user_id;
  std::int32_t item_id;
};

// A part with the shared ids of its rows.
struct PartView {
  const GivenPart& part;
  View<const std::int32_t> user_ids, item_ids;

  Pair pair(std::int64_t i) const {
    const Rating rating = part.ratings[i];
    return {user_ids[rating.user], item_ids[rating.item]};
  }
};

std::int64_t position_of(const PartView& in, const Pair& pair) {
  return position_in_row(in.part.ratings, index_of(in.user_ids, pair.user_id),
                         index_of(in.item_ids, pair.item_id));
}

void check_disjoint(const PartView& a, const PartView& b, ThreadTeam& team) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> first{none};  // the smallest position, so that the message is the same
  std::atomic<std::int64_t> count{0};
  const Ratings& ratings = b.part.ratings;
  team.for_chunks(ratings.nnz(), kGivenChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (position_of(a, b.pair(i)) < 0) continue;
      ++count;
      for (std::int64_t seen = first; i < seen && !first.compare_exchange_weak(seen, i);) {
      }
    }
  });
  if (first == none) return;
  const Rating shared = ratings[first];
  fail(ErrorKind::data,
       "user {}, item {} is in both {} and {} ({}); remove {} from one of them: a test part that "
       "was trained on measures nothing",
       ratings.user_text(shared.user), ratings.item_text(shared.item), a.part.name, b.part.name,
       counted(count, "such pair"), count == 1 ? "it" : "them");
}

RawRatings concatenate(const std::vector<PartView>& parts, ThreadTeam& team) {
  std::int64_t nnz = 0;
  for (const auto& view : parts) nnz += view.part.ratings.nnz();
  RawRatings raw;
  raw.users.resize(nnz);
  raw.items.resize(nnz);
  raw.values.resize(nnz);
  std::int64_t at = 0;
  for (const auto& view : parts) {
    const Ratings& ratings = view.part.ratings;
    team.for_chunks(ratings.nnz(), kGivenChunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t to = at + i;
        const Pair pair = view.pair(i);
        raw.users[to] = pair.user_id;
        raw.items[to] = pair.item_id;
        raw.values[to] = ratings[i].value;
      }
    });
    at += ratings.nnz();
  }
  return raw;
}

}  // namespace

JoinedParts join_parts(const std::vector<GivenPart>& parts, int threads, const std::string& name) {
  ThreadTeam team(threads);
  const UnitedIds users = unite_ids(parts, true);
  const UnitedIds items = unite_ids(parts, false);
  std::vector<PartView> views;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    views.push_back({parts[i], users.of_part[i], items.of_part[i]});
  }
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (std::size_t k = i + 1; k < views.size(); ++k) check_disjoint(views[i], views[k], team);
  }
  RawRatings raw = concatenate(views, team);
  raw.user_names = users.names;
  raw.item_names = items.names;
  JoinedParts joined;
  joined.ratings = make_ratings(std::move(raw), DuplicatePolicy::error, threads, name);
  joined.labels.resize(joined.ratings.nnz());
  // Every shared name occurs, so that its row is the index of the matrix.
  const Ratings& all = joined.ratings;
  for (const auto& view : views) {
    team.for_chunks(view.part.ratings.nnz(), kGivenChunk,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; ++i) {
                        const Pair pair = view.pair(i);
                        const std::int64_t position =
                            position_in_row(all, index_of(all.user_ids(), pair.user_id),
                                            index_of(all.item_ids(), pair.item_id));
                        joined.labels[position] = view.part.label;
                      }
                    });
  }
  return joined;
}

}  // namespace mf
